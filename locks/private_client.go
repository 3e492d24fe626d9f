package locks

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"k8s.io/client-go/rest"
)

var (
	errNoClient = errors.New("locks: client is nil")
	errNoConfig = errors.New("locks: cfg is nil")
)

// privateClient is an HTTP client that serves one lock only.
type privateClient struct {
	config      *rest.Config
	http        *http.Client
	connections *connections
}

// newPrivateClient makes a client from a copy of cfg, which stays as it is.
//
// The client has no timeout of its own: each call is bounded by its context. Redirects are answers like any other, and
// unreadable: following one would turn a PUT into a GET that looks like a success.
func newPrivateClient(cfg *rest.Config, o options) (*privateClient, error) {
	if cfg == nil {
		return nil, errNoConfig
	}
	private := rest.CopyConfig(cfg)
	private.QPS, private.Burst, private.RateLimiter = -1, 0, nil
	private.Timeout = 0
	private.UserAgent = userAgent(cfg, o)
	conns, err := newConnections(private)
	if err != nil {
		return nil, clientError(err)
	}
	return &privateClient{
		config:      private,
		connections: conns,
		http: &http.Client{
			Transport:     &recorder{connections: conns},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func clientError(err error) error { return fmt.Errorf("locks: cfg makes no client: %w", err) }

func userAgent(cfg *rest.Config, o options) string {
	if o.userAgent != "" {
		return o.userAgent
	}
	base := cfg.UserAgent
	if base == "" {
		base = rest.DefaultKubernetesUserAgent()
	}
	return base + " elect/" + moduleVersion() + " (lock)"
}

const modulePath = "github.com/seed2c765205/elect"

// moduleVersion is this module's version in the running program; "devel" if it is not known.
func moduleVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	if info != nil {
		for _, m := range info.Deps {
			if m.Path == modulePath && m.Version != "" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return "devel"
}
