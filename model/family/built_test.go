package family

import "github.com/memwall/memwall/model"

// FromConfigModel reads a config.json into a Model.
func FromConfigModel(id string, c *Config) (*model.Model, error) {
	s, err := FromConfig(c)
	if err != nil {
		return nil, err
	}
	return s.Model(id), nil
}
