//go:build unix

package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	etcdPackage      = "go.etcd.io/etcd/server/v3"
	apiServerPackage = "k8s.io/kubernetes/cmd/kube-apiserver"
	etcdProgram      = "server" // what go build calls it
	apiServerProgram = "kube-apiserver"
)

// linkerFlags leave out what only debuggers read: a hundred megabytes.
const linkerFlags = "-ldflags=-s -w"

// Build builds the programs, unless that was done before, and returns the directory that holds them. Processes that call
// it at the same time build once. When ctx ends, so does the build.
func Build(ctx context.Context) (dir string, err error) {
	source, err := goTool(ctx, ".", "list", "-f", "{{.Dir}}", "github.com/seed2c765205/elect/integration/controlplane")
	if err != nil {
		return "", fmt.Errorf("find the module of the programs: %w", err)
	}
	source = filepath.Join(source, "programs")
	key, err := fingerprint(source)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, key)
	if isThere(dir) {
		return dir, nil
	}
	unlock, err := lockFile(ctx, filepath.Join(cache, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if isThere(dir) { // another process built it while this one waited
		return dir, nil
	}
	return dir, compile(ctx, source, dir)
}

// fingerprint names what the programs are made of.
func fingerprint(source string) (string, error) {
	sum, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("read the pinned versions: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, linkerFlags)
	hash.Write(sum)
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the programs: %w", err)
	}
	cache = filepath.Join(cache, "elect-integration")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make a place for the programs: %w", err)
	}
	return cache, nil
}

// compile builds beside dir and renames, so that dir is either not there or whole.
func compile(ctx context.Context, source, dir string) error {
	fmt.Fprintln(os.Stderr, "controlplane: building etcd and kube-apiserver; this takes minutes, once")
	part, err := os.MkdirTemp(filepath.Dir(dir), "part-")
	if err != nil {
		return fmt.Errorf("make a place for the programs: %w", err)
	}
	defer os.RemoveAll(part) //nolint:errcheck // what stays is no more than garbage in a cache
	if _, err := goTool(ctx, source, "build", linkerFlags, "-o", part+"/", etcdPackage, apiServerPackage); err != nil {
		return fmt.Errorf("build the programs: %w", err)
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return fmt.Errorf("build the programs: %w", err)
	}
	return os.Rename(part, dir)
}

// goTool runs the go command in dir and returns what it prints.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// Flags that suit the module under test need not suit this one.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	ended, err := StartBound(cmd)
	if err != nil {
		return "", err
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = killGroup(cmd.Process.Pid)
		err = errors.Join(context.Cause(ctx), <-ended)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
