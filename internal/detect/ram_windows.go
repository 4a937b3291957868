package detect

import (
	"syscall"
	"unsafe"

	"github.com/memwall/memwall/unit"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load                                          uint32
	total, free, pageTotal, pageFree, virt, virtFree, ext uint64
}

// ram calls GlobalMemoryStatusEx of kernel32.
func ram() (total, free unit.Bytes, ok bool) {
	s := memoryStatus{}
	s.length = uint32(unsafe.Sizeof(s))
	call := syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if call.Find() != nil {
		return 0, 0, false
	}
	done, _, _ := call.Call(uintptr(unsafe.Pointer(&s)))
	return unit.Bytes(s.total), unit.Bytes(s.free), done != 0
}
