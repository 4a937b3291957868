// Package catalogtest provides catalog models to tests.
package catalogtest

import (
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
)

// Spec of a model that the catalog has; the test ends where it has not.
func Spec(t testing.TB, id string) *family.Spec {
	t.Helper()
	e, err := catalog.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Model that the catalog has.
func Model(t testing.TB, id string) *model.Model {
	t.Helper()
	m, err := catalog.Model(id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
