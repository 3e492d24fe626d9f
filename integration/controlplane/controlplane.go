//go:build unix

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A ControlPlane is an etcd and a kube-apiserver on the loopback interface. All methods are safe for concurrent use.
type ControlPlane struct {
	Etcd      *Server
	APIServer *Server

	dir    string // all that it writes
	url    string
	tokens tokens
	client kubernetes.Interface // the administrator's

	mu    sync.Mutex
	users int // how many ordinary users are taken
}

// startLimit is how long a server may take to serve. It takes three seconds on a machine that is not busy.
const startLimit = 3 * time.Minute

// Start starts a control plane, after building its programs if need be. ctx bounds the start, not the life: Stop ends
// it, and the end of this process does.
func Start(ctx context.Context) (*ControlPlane, error) {
	programs, err := Build(ctx)
	if err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	// A port that was free can be taken by the time a server asks for it.
	const tries = 3
	for range tries {
		var c *ControlPlane
		if c, err = start(ctx, programs); err == nil {
			return c, nil
		}
		if !errors.Is(err, errEnded) {
			break
		}
	}
	return nil, fmt.Errorf("controlplane: %w", err)
}

func start(ctx context.Context, programs string) (*ControlPlane, error) {
	dir, err := os.MkdirTemp("", "elect-controlplane-")
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{dir: dir}
	if err := c.start(ctx, programs); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, programs string) (err error) {
	if err := c.prepare(programs); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := c.Etcd.Start(ctx); err != nil {
		return err
	}
	if err := c.APIServer.Start(ctx); err != nil {
		return err
	}
	c.client, err = kubernetes.NewForConfig(c.Config())
	return err
}

func (c *ControlPlane) prepare(programs string) (err error) {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	if c.tokens, err = writeFiles(c.dir); err != nil {
		return err
	}
	etcd := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peer := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	c.url = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	c.Etcd = &Server{
		name: "etcd", path: filepath.Join(programs, etcdProgram), args: etcdArgs(c.dir, etcd, peer),
		log: filepath.Join(c.dir, "etcd.log"), ready: ready(nil, etcd+"/health"),
	}
	c.APIServer = &Server{
		name: "kube-apiserver", path: filepath.Join(programs, apiServerProgram), args: apiServerArgs(c.dir, etcd, ports[2]),
		log: filepath.Join(c.dir, "kube-apiserver.log"),
		// The first namespaces appear a moment after the server is ready.
		ready: ready(c.Config, c.url+"/readyz", c.url+"/api/v1/namespaces/default"),
	}
	return nil
}

// ready makes a check that all the URLs answer 200, as the administrator if there is a config. The config is asked for
// anew each time: the server makes its certificate when it starts.
func ready(config func() *rest.Config, urls ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		client := http.DefaultClient
		if config != nil {
			var err error
			if client, err = rest.HTTPClientFor(config()); err != nil {
				return err
			}
			defer client.CloseIdleConnections()
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		for _, url := range urls {
			if err := check(ctx, client, url); err != nil {
				return err
			}
		}
		return nil
	}
}

func check(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", url, answer.Status, body)
	}
	return nil
}

// Stop ends the control plane and removes all that it wrote. It may be called more than once.
func (c *ControlPlane) Stop() error {
	for _, s := range []*Server{c.APIServer, c.Etcd} {
		if s != nil {
			s.Kill()
		}
	}
	return os.RemoveAll(c.dir)
}

// WriteLogs writes the last lines that each server printed.
func (c *ControlPlane) WriteLogs(w io.Writer, lines int) {
	for _, s := range []*Server{c.Etcd, c.APIServer} {
		fmt.Fprintln(w, s.tail(lines))
	}
}
