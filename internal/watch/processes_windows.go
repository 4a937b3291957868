package watch

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/memwall/memwall/unit"
)

// counters is PROCESS_MEMORY_COUNTERS_EX of the Windows API.
type counters struct {
	length, faults                                  uint32
	peakWorkingSet, workingSet                      uintptr
	peakPagedPool, pagedPool, peakNonPaged, nonPage uintptr
	pageFile, peakPageFile, private                 uintptr
}

var memoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// processes are those of a snapshot of the system (Toolhelp32). What belongs to others, or to the system, does not say what it
// was started with.
func processes() ([]Process, error) {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = windows.CloseHandle(all) }() // it was only read
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	var out []Process
	for err = windows.Process32First(all, &entry); err == nil && len(out) < maxProcesses; err = windows.Process32Next(all, &entry) {
		p := Process{PID: int(entry.ProcessID), Parent: int(entry.ParentProcessID), Args: []string{windows.UTF16ToString(entry.ExeFile[:])}}
		p.ask()
		out = append(out, p)
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		err = nil
	}
	return out, err
}

// ask opens a process, if it may be.
func (p *Process) ask() {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, uint32(p.PID))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }() // it was only read
	p.started(h)
	c := counters{}
	c.length = uint32(unsafe.Sizeof(c))
	if memoryInfo.Find() != nil {
		return
	}
	if done, _, _ := memoryInfo.Call(uintptr(h), uintptr(unsafe.Pointer(&c)), uintptr(c.length)); done != 0 {
		p.Resident, p.Own = unit.Bytes(c.workingSet), unit.Bytes(c.workingSet)
		if c.private > 0 {
			p.Own = min(p.Resident, unit.Bytes(c.private))
		}
	}
}

// started reads what a process was started with, which lies in its own memory. Addresses there are numbers here, no pointers.
func (p *Process) started(h windows.Handle) {
	var about windows.PROCESS_BASIC_INFORMATION
	size := uint32(unsafe.Sizeof(about))
	if windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&about), size, &size) != nil {
		return
	}
	block := memory(h, uintptr(unsafe.Pointer(about.PebBaseAddress)), unsafe.Sizeof(windows.PEB{}))
	var shape windows.RTL_USER_PROCESS_PARAMETERS
	given := memory(h, address(block, unsafe.Offsetof(windows.PEB{}.ProcessParameters)), unsafe.Sizeof(shape))
	if given == nil {
		return
	}
	if args, err := windows.DecomposeCommandLine(text(h, given, unsafe.Offsetof(shape.CommandLine))); err == nil && len(args) > 0 {
		p.Args = args
	}
	p.Folder = text(h, given, unsafe.Offsetof(shape.CurrentDirectory))
	most := min(address(given, unsafe.Offsetof(shape.EnvironmentSize)), maxEnvironment)
	p.Environment = strings.Split(letters(memory(h, address(given, unsafe.Offsetof(shape.Environment)), most)), "\x00")
}

// memory of another process; nil where it cannot be read.
func memory(h windows.Handle, at, size uintptr) []byte {
	if at == 0 || size == 0 {
		return nil
	}
	b := make([]byte, size)
	var read uintptr
	if windows.ReadProcessMemory(h, at, &b[0], size, &read) != nil || read != size {
		return nil
	}
	return b
}

// address at an offset of a structure; 0 where there is none.
func address(of []byte, offset uintptr) uintptr {
	if len(of) < int(offset+unsafe.Sizeof(offset)) {
		return 0
	}
	return *(*uintptr)(unsafe.Pointer(&of[offset]))
}

// text that a UNICODE_STRING at an offset of a structure points to, at most maxCommand bytes of it.
func text(h windows.Handle, of []byte, offset uintptr) string {
	length := uintptr(of[offset]) | uintptr(of[offset+1])<<8
	return letters(memory(h, address(of, offset+unsafe.Offsetof(windows.NTUnicodeString{}.Buffer)), min(length, maxCommand)))
}

func letters(utf16le []byte) string {
	wide := make([]uint16, len(utf16le)/2)
	for i := range wide {
		wide[i] = uint16(utf16le[2*i]) | uint16(utf16le[2*i+1])<<8
	}
	return string(utf16.Decode(wide))
}
