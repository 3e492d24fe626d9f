//go:build unix

package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/locks/lockstest"
)

// An apiServer is one that must pass the checks of what locks rely on. Both pass the same: what is tested on the one in
// memory is worth as much as the two are alike.
type apiServer struct {
	name     string
	inMemory bool
	// open returns a configuration and a namespace of its own.
	open func(t *testing.T) (*rest.Config, string)
}

var apiServers = []apiServer{
	{"kube-apiserver", false, func(t *testing.T) (*rest.Config, string) { return cluster.Config(), newNamespace(t) }},
	{"lockstest in process", true, func(*testing.T) (*rest.Config, string) { return lockstest.NewServer().Config(), "default" }},
	{"lockstest over HTTP", true, func(t *testing.T) (*rest.Config, string) { return lockstest.NewServer().Listen(t), "default" }},
}

var wires = []string{"application/json", "application/vnd.kubernetes.protobuf"}

func TestAPIServersBehaveAlike(t *testing.T) {
	for _, server := range apiServers {
		for _, wire := range wires {
			t.Run(server.name+"/"+wire[strings.LastIndexAny(wire, "/.")+1:], func(t *testing.T) {
				for _, c := range apiChecks {
					t.Run(c.name, func(t *testing.T) {
						p := newProbe(t, server, wire)
						if got, want := describe(c.run(p)), c.wantOf(server); got != want {
							t.Errorf("the answer is\n%s, want\n%s", got, want)
						}
					})
				}
			})
		}
	}
}

// An apiCheck makes calls, and returns the answer to the one that it is about.
type apiCheck struct {
	name string
	want string // as describe says it
	run  func(p *probe) error
}

func (c apiCheck) wantOf(server apiServer) string {
	if other, ok := differences[c.name]; ok && server.inMemory {
		return other
	}
	return c.want
}

// describe says of an answer what clients decide by: code, reason, and what the details name. Messages are for people.
func describe(err error) string {
	if err == nil {
		return success
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Sprintf("%T: %v", err, err)
	}
	s := status.Status()
	text := fmt.Sprintf("%d %s", s.Code, s.Reason)
	if d := s.Details; d != nil {
		text += fmt.Sprintf(" of %s.%s %s", d.Kind, d.Group, d.Name)
		for _, cause := range d.Causes {
			text += fmt.Sprintf("; %s %s", cause.Type, cause.Field)
		}
		if d.RetryAfterSeconds > 0 {
			text += fmt.Sprintf("; again in %d s", d.RetryAfterSeconds)
		}
	}
	return text
}
