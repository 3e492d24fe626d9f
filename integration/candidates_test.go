//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/integration/controlplane"
)

// buildService builds the example once for all tests.
var buildService = sync.OnceValues(func() (program string, err error) {
	dir, err := os.MkdirTemp("", "elect-service-")
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "service")
	out, err := exec.Command("go", "build", "-o", program, "github.com/seed2c765205/elect/examples/service").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the example: %w\n%s", err, out)
	}
	return program, nil
})

// An entry is an event that a candidate has printed.
type entry struct {
	candidate *candidate
	event     events.Event
}

// A troupe is some processes of the example that compete for one Lease, with the rights of the example's role.
type troupe struct {
	t         *testing.T
	namespace string
	lease     time.Duration
	size      int

	mu      sync.Mutex
	journal []entry       // in the order in which the lines arrived
	news    chan struct{} // closed, and replaced, when the journal grows
}

// A candidate is one process.
type candidate struct {
	name    string
	process *os.Process
	ended   <-chan error // gets how the process ended, when all it printed is in the journal
}

func newTroupe(t *testing.T, lease time.Duration, names ...string) *troupe {
	t.Helper()
	program, err := buildService()
	if err != nil {
		t.Fatal(err)
	}
	tr := &troupe{t: t, namespace: newNamespace(t), lease: lease, size: len(names), news: make(chan struct{})}
	user, err := cluster.NewUser()
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Grant(within(t, time.Minute), user, exampleRole(t, tr.namespace)); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, user.Config); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		tr.start(name, exec.Command(program, "-json", "-kubeconfig="+kubeconfig, "-lease="+tr.namespace+"/service",
			"-identity="+name, "-lease-duration="+lease.String()))
	}
	t.Cleanup(func() {
		if t.Failed() {
			tr.tell()
		}
	})
	return tr
}

// exampleRole is the Role that the example says it needs.
func exampleRole(t *testing.T, namespace string) *rbacv1.Role {
	t.Helper()
	file, err := os.Open("../examples/service/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for documents := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		var role rbacv1.Role
		if err := documents.Decode(&role); err != nil {
			t.Fatalf("find a Role in role.yaml: %v", err)
		}
		if role.Kind == "Role" {
			role.Namespace = namespace
			return &role
		}
	}
}

func (tr *troupe) start(name string, cmd *exec.Cmd) {
	tr.t.Helper()
	read, write := io.Pipe()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &stderr
	process, err := controlplane.StartBound(cmd)
	if err != nil {
		tr.t.Fatal(err)
	}
	ended, finished := make(chan error, 1), make(chan struct{})
	c := &candidate{name: name, process: cmd.Process, ended: ended}
	go func() {
		defer close(finished)
		for lines := bufio.NewScanner(read); lines.Scan(); {
			tr.add(c, lines.Bytes())
		}
	}()
	go func() {
		err := <-process
		_ = write.Close()
		<-finished
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", name, err, &stderr)
		}
		ended <- err
	}()
	tr.t.Cleanup(func() { _ = cmd.Process.Kill() })
}

func (tr *troupe) add(c *candidate, line []byte) {
	event, err := events.Parse(line)
	if err != nil {
		tr.t.Errorf("%s prints %q: %v", c.name, line, err)
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.journal = append(tr.journal, entry{c, event})
	close(tr.news)
	tr.news = make(chan struct{})
}

// await waits for an entry that satisfies is, whenever it came, and returns the first. It begins anew with the first
// entry whenever one is added.
func (tr *troupe) await(what string, is func(entry) bool) entry {
	tr.t.Helper()
	ctx := within(tr.t, time.Minute)
	for {
		tr.mu.Lock()
		i, news := slices.IndexFunc(tr.journal, is), tr.news
		tr.mu.Unlock()
		if i >= 0 {
			return tr.journal[i]
		}
		select {
		case <-news:
		case <-ctx.Done():
			tr.t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// awaitTerm waits for the beginning of a term of anybody but these.
func (tr *troupe) awaitTerm(not ...*candidate) (*candidate, events.Acquired) {
	tr.t.Helper()
	e := tr.await("the beginning of a term", func(e entry) bool {
		_, ok := e.event.(events.Acquired)
		return ok && !slices.Contains(not, e.candidate)
	})
	return e.candidate, e.event.(events.Acquired)
}

// awaitFollowers waits until every other candidate has seen who leads.
func (tr *troupe) awaitFollowers(leader *candidate) {
	tr.t.Helper()
	seen := map[*candidate]bool{leader: true}
	tr.await("followers", func(e entry) bool {
		if changed, ok := e.event.(events.LeaderChanged); ok && changed.To == leader.name {
			seen[e.candidate] = true
		}
		return len(seen) == tr.size
	})
}

// awaitRenewals waits until a candidate has renewed n times.
func (tr *troupe) awaitRenewals(c *candidate, n int) {
	tr.t.Helper()
	seen := map[time.Time]bool{}
	tr.await("renewals", func(e entry) bool {
		if renewed, ok := e.event.(events.Renewed); ok && e.candidate == c {
			seen[renewed.Time] = true
		}
		return len(seen) == n
	})
}

func (tr *troupe) awaitLost(c *candidate) events.Lost {
	tr.t.Helper()
	e := tr.await("the end of the term", func(e entry) bool {
		_, ok := e.event.(events.Lost)
		return ok && e.candidate == c
	})
	return e.event.(events.Lost)
}

// awaitEnd waits for the end of a process and returns how it ended.
func (tr *troupe) awaitEnd(c *candidate) error {
	tr.t.Helper()
	select {
	case err := <-c.ended:
		return err
	case <-within(tr.t, time.Minute).Done():
		tr.t.Fatalf("%s does not end", c.name)
		return nil
	}
}

func (c *candidate) signal(s syscall.Signal) { _ = c.process.Signal(s) }

// stored reads the Lease.
func (tr *troupe) stored(ctx context.Context) *coordinationv1.Lease {
	tr.t.Helper()
	l, err := cluster.Client().CoordinationV1().Leases(tr.namespace).Get(ctx, "service", get)
	if err != nil {
		tr.t.Fatal(err)
	}
	return l
}

// tell prints the journal.
func (tr *troupe) tell() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, e := range tr.journal {
		tr.t.Logf("%s  %s  %s", e.event.When().Format("15:04:05.000000"), e.candidate.name, e.event)
	}
}
