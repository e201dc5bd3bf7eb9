package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"sort"
	"syscall"
)

// gpu is one GPU of the hardware record.
type gpu struct {
	Index int    `json:"index"`
	UUID  string `json:"uuid"`
}

// readGPUs returns the GPUs that the hardware record lists now. A disk is read past the page cache: what the simulator
// writes into it shall be seen at once.
func readGPUs(path string) ([]gpu, error) {
	raw, err := readDirect(path)
	if err != nil {
		return nil, err
	}
	var record struct {
		GPUs []gpu `json:"gpus"`
	}
	err = json.Unmarshal(bytes.TrimRight(raw, "\x00"), &record)
	return record.GPUs, err
}

// readDirect reads a small disk or file whole, into memory that is aligned as direct reads ask for.
func readDirect(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	room := (int(size)/os.Getpagesize() + 1) * os.Getpagesize()
	page, err := syscall.Mmap(-1, 0, room, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Munmap(page) }()
	count, err := file.ReadAt(page, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return append([]byte{}, page[:count]...), nil
}

// byIndex returns GPUs in the order of their index.
func byIndex(known map[string]gpu) []gpu {
	found := []gpu{}
	for _, each := range known {
		found = append(found, each)
	}
	sort.Slice(found, func(a, b int) bool { return found[a].Index < found[b].Index })
	return found
}
