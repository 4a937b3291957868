package main

import (
	"github.com/memwall/memwall/validation"
	"github.com/memwall/memwall/validation/fit/internal/tables"
)

func writeMeasured(to string) error {
	table, err := validation.MeasuredTable()
	if err != nil {
		return err
	}
	return tables.Write(to, table)
}
