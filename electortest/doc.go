// Package electortest has what tests of elections, and of services that take part in them, need.
package electortest
