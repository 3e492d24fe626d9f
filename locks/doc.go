// Package locks keeps an election's record in Kubernetes, or in memory.
//
// NewLease and NewConfigMap take a typed client of the program's own. NewLeaseForConfig and NewConfigMapForConfig make a
// private client from a copy of a rest.Config, and are the better choice where one is at hand: the private client has no
// rate limit to share with the program's other requests, repeats nothing behind the elector's back, follows no redirect,
// drops connections that fail again and again, says in its user agent that it is an election's, and keeps the beginning
// of an answer that it cannot read.
//
// # What an error says
//
// The locks keep the contract of elector.Lock, C1 to C11; errors of client-go are translated here and nowhere else:
//
//   - elector.ErrNotFound and elector.ErrConflict only where the API server said so with a Status about this very object.
//     A 404 or 409 page of a proxy is neither.
//   - *elector.CallError with NotApplied where a write certainly did not happen: a Status with code 400, 401, 403, 405,
//     406, 413, 415, 422 or 429, the API server's plain-text 429, a missing namespace, a record that the lock cannot hold,
//     and a request that was never sent (refused connection, unresolved name, failed TLS handshake, a client-side rate
//     limit, a context that ended before a connection was there). An answer that is not the API server's own promises
//     nothing, whatever its code: a proxy that says 401, 403 or 302 may have passed the request on before it said so.
//   - *elector.DecodeError for every answer that is not a readable Kubernetes object or Status: class Decode, the outcome
//     of a write unknown. The exceptions are "404 page not found", by which the API server says that it does not serve an
//     API, and a 404 Status that is not about the lock's object: class NotFound, and still a DecodeError.
//   - everything else is a CallError of class Timeout, Unavailable or Canceled whose outcome is unknown, unless the request
//     was never sent. A context that was cancelled with the cause context.DeadlineExceeded is a Timeout.
//
// A server's wish to be left alone for a while is kept in CallError.RetryAfter. A client that was passed to NewLease or
// NewConfigMap honours it by itself first, up to ten times, unless it was built otherwise.
package locks
