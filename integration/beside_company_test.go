//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed2c765205/elect/integration/controlplane"
	"github.com/seed2c765205/elect/integration/internal/monotonic"
)

// A kind is the library that a candidate uses.
type kind string

const (
	ours     kind = "elect"
	clientGo kind = "client-go"
)

// A way is how a term is made to end.
type way string

const (
	stopped  way = "stop"   // gracefully
	killed   way = "kill"   // SIGKILL
	cutOff   way = "expire" // the leader was cut off from the API server
	byItself way = "itself" // the driver did nothing
)

// A player is one process. None has the identity of another, as after a restart of a Pod.
type player struct {
	name     string
	kind     kind
	releases bool // client-go's ReleaseOnCancel
	process  *os.Process
	cable    *cable
	out      chan struct{} // closed when the process has ended and all it printed is in the company's journal
	news     bytes.Buffer  // its stderr
}

// work is one time of a player's working.
type work struct {
	who        *player
	begin, end time.Duration // on the clock of package monotonic; end is 0 while it goes on
	way        way
}

func (w *work) on() bool { return w.end == 0 }

// A company is the processes that compete for one Lease, and all that they have done.
type company struct {
	t          *testing.T
	program    string
	namespace  string
	kubeconfig string // the directory
	lines      sync.WaitGroup

	mu      sync.Mutex
	serial  int
	players []*player
	works   []*work
	story   []line
	changed chan struct{} // closed, and replaced, when something happens
}

// A line is something that happened, for people.
type line struct {
	at   time.Duration
	text string
}

func newCompany(t *testing.T) *company {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "candidate")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/candidate").CombinedOutput(); err != nil {
		t.Fatalf("build the candidate: %v\n%s", err, out)
	}
	c := &company{t: t, program: program, namespace: newNamespace(t), kubeconfig: dir, changed: make(chan struct{})}
	t.Cleanup(c.dismiss)
	return c
}

// hire starts a player. It ends with the test at the latest.
func (c *company) hire(k kind, releases bool) {
	c.t.Helper()
	c.mu.Lock()
	c.serial++
	p := &player{name: fmt.Sprintf("%s-%d", k, c.serial), kind: k, releases: releases, out: make(chan struct{})}
	c.mu.Unlock()
	p.cable = newCable(c.t, cluster.Config())
	file := filepath.Join(c.kubeconfig, p.name)
	if err := controlplane.WriteKubeconfig(file, p.cable.through(cluster.Config())); err != nil {
		c.t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: c.program, Args: []string{
		p.name, // both libraries tell it to the API server, which notes it as the manager of the fields they write
		"-kubeconfig=" + file, "-namespace=" + c.namespace, "-identity=" + p.name,
		fmt.Sprintf("-client-go=%t", k == clientGo), fmt.Sprintf("-release=%t", releases),
	}}
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, &p.news
	ended, err := controlplane.StartBound(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	p.process = cmd.Process
	c.note("%s starts (releases: %t)", p.name, releases)
	c.mu.Lock()
	c.players = append(c.players, p)
	c.mu.Unlock()
	heard := make(chan struct{})
	c.lines.Go(func() {
		defer close(heard)
		for s := bufio.NewScanner(read); s.Scan(); {
			c.hear(p, s.Text())
		}
	})
	c.lines.Go(func() {
		err := <-ended
		at := monotonic.Now()
		_ = write.Close()
		<-heard
		c.bury(p, at, err)
	})
}

// hear takes down a line that a player has printed.
func (c *company) hear(p *player, text string) {
	what, rest, _ := strings.Cut(text, " ")
	stamp, rest, _ := strings.Cut(rest, " ")
	ns, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		c.t.Errorf("%s prints %q", p.name, text)
		return
	}
	at := time.Duration(ns)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch what {
	case "begin":
		c.works = append(c.works, &work{who: p, begin: at, way: byItself})
	case "end":
		c.endOf(p, at)
	}
	c.tell(at, fmt.Sprintln(p.name, what, rest))
}

// bury takes down the end of a process. Its work has ended then at the latest.
func (c *company) bury(p *player, at time.Duration, err error) {
	p.cable.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endOf(p, at)
	c.players = slices.DeleteFunc(c.players, func(other *player) bool { return other == p })
	close(p.out)
	c.tell(at, fmt.Sprintln(p.name, "has ended:", err))
	if exit := exitCode(err); exit > 0 {
		c.t.Errorf("%s fails: %v: %s", p.name, err, &p.news)
	}
}

func (c *company) endOf(p *player, at time.Duration) {
	for _, w := range c.works {
		if w.who == p && w.on() {
			w.end = at
		}
	}
}

// tell adds to the story. The caller holds the lock.
func (c *company) tell(at time.Duration, text string) {
	c.story = append(c.story, line{at, strings.TrimSpace(text)})
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *company) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell(monotonic.Now(), fmt.Sprintf("-- "+format, args...))
}

// await waits until is holds. It is called with the lock held, whenever something has happened.
func (c *company) await(what string, is func() bool) {
	c.t.Helper()
	ctx := within(c.t, time.Minute)
	for {
		c.mu.Lock()
		ok, changed := is(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			c.print(monotonic.Now()-2*time.Minute, monotonic.Now())
			c.t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// awaitWork waits for work that goes on, and is not over's.
func (c *company) awaitWork(over *work) (current *work) {
	c.t.Helper()
	c.await("work", func() bool {
		for _, w := range c.works {
			if w.on() && w != over {
				current = w
			}
		}
		return current != nil
	})
	return current
}

// awaitAfter waits until work has begun that began after another.
func (c *company) awaitAfter(w *work) (next *work) {
	c.t.Helper()
	c.await("the next term", func() bool {
		for _, other := range c.works {
			if other.begin > w.begin {
				next = other
				return true
			}
		}
		return false
	})
	return next
}

func (c *company) awaitEnd(w *work) {
	c.t.Helper()
	c.await("the end of the work of "+w.who.name, func() bool { return !w.on() })
}

// awaitOut waits for the end of a process.
func (c *company) awaitOut(p *player) {
	c.t.Helper()
	c.await("the end of "+p.name, func() bool { return !slices.Contains(c.players, p) })
}

// mark says how a term is made to end.
func (c *company) mark(w *work, how way) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.on() {
		w.way = how
	}
	c.tell(monotonic.Now(), fmt.Sprintf("-- %s: %s", w.who.name, how))
}

// present lists the players whose processes live.
func (c *company) present() []*player {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.players)
}

// dismiss ends all processes.
func (c *company) dismiss() {
	for _, p := range c.present() {
		_ = p.process.Signal(syscall.SIGKILL)
	}
	c.lines.Wait()
}

// print tells what happened in a time.
func (c *company) print(from, to time.Duration) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, l := range c.story {
		if l.at >= from && l.at <= to {
			fmt.Fprintf(&b, "%14.6f  %s\n", l.at.Seconds(), l.text)
		}
	}
	c.t.Logf("what happened:\n%s", &b)
}
