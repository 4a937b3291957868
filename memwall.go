// Package memwall answers questions about the memory of large language models.
package memwall
