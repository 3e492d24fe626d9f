package locks

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// place is where a lock's object is.
type place struct {
	kind            string // as in apiVersion and kind, such as "Lease"
	group, resource string // as in a Status, such as "leases"
	namespace, name string
}

// String is such as "lease shop/leader".
func (p place) String() string {
	return strings.ToLower(p.kind) + " " + p.namespace + "/" + p.name
}

// validate checks the names by the API server's rules. An empty namespace would address all namespaces.
func (p place) validate() error {
	if errs := validation.IsDNS1123Label(p.namespace); len(errs) > 0 {
		return fmt.Errorf("locks: namespace %q of a %s must be an RFC 1123 label: %s", p.namespace, p.kind, strings.Join(errs, "; "))
	}
	if errs := validation.IsDNS1123Subdomain(p.name); len(errs) > 0 {
		return fmt.Errorf("locks: name %q of a %s must be an RFC 1123 subdomain: %s", p.name, p.kind, strings.Join(errs, "; "))
	}
	return nil
}

// isAbout tells whether a Status is about the object, and not about its namespace, its API or nothing in particular.
func (p place) isAbout(d *metav1.StatusDetails) bool {
	return d != nil && d.Group == p.group && d.Kind == p.resource && d.Name == p.name
}
