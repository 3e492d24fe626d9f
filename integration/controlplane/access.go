//go:build unix

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config returns a new client configuration for the administrator, who may do everything. It limits no rate.
func (c *ControlPlane) Config() *rest.Config { return c.config(c.tokens.admin) }

// Client returns the administrator's client.
func (c *ControlPlane) Client() kubernetes.Interface { return c.client }

func (c *ControlPlane) config(token string) *rest.Config {
	return &rest.Config{
		Host:        c.url,
		BearerToken: token,
		// The server signs its certificate itself, and writes it there when it starts.
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(c.dir, "apiserver.crt")},
		QPS:             -1,
	}
}

// A User is an ordinary user: without a Grant it may do next to nothing.
type User struct {
	Name   string
	Config *rest.Config
}

// NewUser returns a user that no other call has returned. There are a hundred.
func (c *ControlPlane) NewUser() (User, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == userCount {
		return User{}, fmt.Errorf("controlplane: all %d users are taken", userCount)
	}
	i := c.users
	c.users++
	return User{Name: userName(i), Config: c.config(c.tokens.users[i])}, nil
}

// NewNamespace makes a namespace whose name begins with prefix.
func (c *ControlPlane) NewNamespace(ctx context.Context, prefix string) (string, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}
	ns, err := c.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("controlplane: make a namespace: %w", err)
	}
	return ns.Name, nil
}

// Grant creates the role in its namespace, gives it to the user, and waits until the API server lets the user do what the
// role says.
func (c *ControlPlane) Grant(ctx context.Context, user User, role *rbacv1.Role) error {
	rbac := c.client.RbacV1()
	role, err := rbac.Roles(role.Namespace).Create(ctx, role, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("controlplane: grant to %s: %w", user.Name, err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: user.Name + "-", Namespace: role.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user.Name}},
	}
	if _, err := rbac.RoleBindings(role.Namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("controlplane: grant to %s: %w", user.Name, err)
	}
	for _, rule := range role.Rules {
		for _, access := range asked(role.Namespace, rule) {
			if err := c.awaitAccess(ctx, user, access); err != nil {
				return fmt.Errorf("controlplane: grant %+v to %s: %w", access, user.Name, err)
			}
		}
	}
	return nil
}

// asked lists what a rule allows.
func asked(namespace string, rule rbacv1.PolicyRule) (all []authorizationv1.ResourceAttributes) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					all = append(all, authorizationv1.ResourceAttributes{
						Namespace: namespace, Group: group, Resource: resource, Verb: verb, Name: name,
					})
				}
			}
		}
	}
	return all
}

func (c *ControlPlane) awaitAccess(ctx context.Context, user User, access authorizationv1.ResourceAttributes) error {
	review := &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: user.Name, ResourceAttributes: &access},
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// WriteKubeconfig writes a configuration of the control plane as a file that kubectl and other programs read.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "elect"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	return clientcmd.WriteToFile(*file, path)
}
