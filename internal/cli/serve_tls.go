package cli

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"

	"github.com/memwall/memwall"
)

// longestPEM bounds the bytes read; chains are a few KiB.
const longestPEM = 1 << 20

// certificate returns the server's TLS configuration; nil for plain HTTP.
func (a *app) certificate(f *serveFlags) (*tls.Config, error) {
	if f.cert == "" && f.key == "" {
		return nil, nil
	}
	if f.cert == "" || f.key == "" {
		return nil, usage("tls-cert", f.cert, "--tls-cert and --tls-key go together", "--tls-cert cert.pem --tls-key key.pem")
	}
	cert, err := a.pem("tls-cert", f.cert)
	if err != nil {
		return nil, err
	}
	key, err := a.pem("tls-key", f.key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadField, Field: "tls-cert", Value: f.cert, Message: fmt.Sprintf("--tls-cert %s with --tls-key %s: %v", f.cert, f.key, err), Hint: "a certificate and its own key, both in PEM"}
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

func (a *app) pem(flag, name string) ([]byte, error) {
	file, err := a.OpenFile(name)
	if err != nil {
		return nil, usage(flag, name, "--"+flag+" "+name+" cannot be read", "a file in PEM")
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, longestPEM))
	if err != nil {
		return nil, usage(flag, name, "--"+flag+" "+name+" cannot be read", "a file in PEM")
	}
	return data, nil
}

// accesses is the destination of the access log; the zero value discards it.
type accesses struct {
	to   io.Writer
	file *os.File
}

// Close closes the file, if any.
func (l accesses) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// accessLog opens a server's log for appending, accessible only to its owner.
func (a *app) accessLog(name string) (accesses, error) {
	switch name {
	case "":
		return accesses{}, nil
	case "-":
		return accesses{to: a.Stderr}, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return accesses{}, usage("access-log", name, "--access-log "+name+" is not a regular file", "a file, or - for standard error")
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return accesses{}, usage("access-log", name, "--access-log "+name+" cannot be written", "a file in a folder of yours, or - for standard error")
	}
	return accesses{to: file, file: file}, nil
}
