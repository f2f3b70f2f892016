// Package timeline is what happened: the events that were stored, and a feed of
// changes as they are stored ([Timeline.Subscribe]). The main type is [Timeline].
package timeline
