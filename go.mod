module github.com/memwall/memwall

go 1.26
