package locks

import "maps"

// An Option changes how a lock is made. A nil Option does nothing.
type Option func(*options)

type options struct {
	labels, annotations map[string]string
	userAgent           string
}

func newOptions(opts []Option) options {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// WithLabels sets the labels of an object that the lock creates, so that people and policies can select it. An object
// that exists keeps the labels it has.
func WithLabels(labels map[string]string) Option {
	return func(o *options) { o.labels = maps.Clone(labels) }
}

// WithAnnotations sets the annotations of an object that the lock creates, for instance to say whose it is. An object
// that exists keeps the annotations it has.
func WithAnnotations(annotations map[string]string) Option {
	return func(o *options) { o.annotations = maps.Clone(annotations) }
}

// WithUserAgent replaces the user agent of a private client, by which audit logs and flow schemas know the requests of an
// election. The default is that of the rest.Config, or else client-go's, followed by "elect/<version> (lock)". Locks on a
// client of the program's own ignore it.
func WithUserAgent(userAgent string) Option {
	return func(o *options) { o.userAgent = userAgent }
}
