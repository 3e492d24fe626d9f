package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
)

// candidate makes an elector for a Lease on a cluster.
func candidate(o options) (*elector.Elector, error) {
	config, namespace, err := cluster(o)
	if err != nil {
		return nil, err
	}
	if o.namespace != "" {
		namespace = o.namespace
	}
	lock, err := locks.NewLeaseForConfig(config, namespace, o.lease)
	if err != nil {
		return nil, fmt.Errorf("flag -lease is %q: %w", o.lease, err)
	}
	return elector.New(elector.Config{Lock: lock, Identity: o.identity, LeaseDuration: o.leaseDuration})
}

// cluster says how to reach the cluster, and which namespace is meant if none is named.
func cluster(o options) (config *rest.Config, namespace string, err error) {
	if o.kubeconfig == "" {
		return ownCluster()
	}
	file := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: o.kubeconfig}, nil)
	if config, err = file.ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("flag -kubeconfig is %q: want the file of a cluster: %w", o.kubeconfig, err)
	}
	namespace, _, err = file.Namespace()
	return config, namespace, err
}

// ownCluster is the cluster in which this process is a Pod.
func ownCluster() (*rest.Config, string, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, "", fmt.Errorf("flag -kubeconfig is missing, and outside a Pod it is needed: %w", err)
	}
	namespace, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return nil, "", fmt.Errorf("flag -lease names no namespace, and that of the Pod is not known: %w", err)
	}
	return config, string(namespace), nil
}
