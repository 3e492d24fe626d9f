package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	kubeconfig    string
	namespace     string // "": that of the Pod, or of the kubeconfig
	lease         string
	identity      string
	leaseDuration time.Duration
	json          bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error; it names the flag, the value and the rule
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the `file` that says how to reach the cluster (default: as a Pod reaches its own)")
	flags.Func("lease", "the Lease to compete for, `[namespace/]name` (default in a Pod: service)", o.setLease)
	flags.StringVar(&o.identity, "identity", "", "the `name` of this candidate; no two may share one (default: hostname_uuid)")
	flags.Func("lease-duration", "how long others wait after the last renewal, a `duration` of whole seconds (default 15s)", o.setDuration)
	flags.BoolVar(&o.json, "json", false, "print each event in JSON")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stderr, "service [flags]; without flags, a show that needs no cluster")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
	}
	if err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("argument %q: there are only flags, see -help", flags.Arg(0))
	}
	if o.kubeconfig != "" && o.lease == "" {
		return options{}, errors.New("flag -lease is missing: -kubeconfig needs it, as [namespace/]name")
	}
	if o.lease == "" && inPod() {
		o.lease = "service"
	}
	return o, nil
}

func (o *options) onCluster() bool { return o.lease != "" }

func (o *options) setLease(value string) error {
	namespace, name, ok := strings.Cut(value, "/")
	if !ok {
		namespace, name = "", value
	}
	if name == "" || strings.Contains(name, "/") || ok && namespace == "" {
		return errors.New("want [namespace/]name")
	}
	o.namespace, o.lease = namespace, name
	return nil
}

func (o *options) setDuration(value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Second || d%time.Second != 0 {
		return errors.New("want whole seconds, at least one, such as 15s")
	}
	o.leaseDuration = d
	return nil
}

func inPod() bool { return os.Getenv("KUBERNETES_SERVICE_HOST") != "" }
