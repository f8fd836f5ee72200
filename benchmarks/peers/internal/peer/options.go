package peer

import "flag"

// Options are what every peer is told.
type Options struct {
	Server, Work, Kind string
	Objects, Workers   int
}

// Parse reads the command line.
func Parse() Options {
	var told Options
	flag.StringVar(&told.Server, "server", "", "URL of the API server")
	flag.StringVar(&told.Work, "work", "", "cache, reads or reconcile")
	flag.StringVar(&told.Kind, "kind", "widgets", "widgets or pods")
	flag.String("lists", "stream", "the server says whether it streams lists")
	flag.IntVar(&told.Objects, "objects", 0, "how many there are")
	flag.IntVar(&told.Workers, "workers", 1, "that reconcile")
	flag.Parse()
	return told
}
