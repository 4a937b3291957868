package cli

import (
	"runtime"
	"sync"
)

// parallel calls do for each of n indices, concurrently on as many goroutines as there are processors.
func parallel(n int, do func(int)) {
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	wg.Wait()
}
