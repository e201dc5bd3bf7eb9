// Command device-plugin offers the simulated GPUs of a guest to its kubelet, over the kubelet's own device plugin API.
//
// It stands where the vendor's device plugin stands: what the hardware record of the guest lists is healthy, and what
// it listed before and lists no more is unhealthy, as a GPU that fell off the bus is. A container that is given GPUs
// finds their identifiers in NVIDIA_VISIBLE_DEVICES.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	resource = "nvidia.com/gpu"
	endpoint = "coldaisle-gpu.sock"
	callFor  = 10 * time.Second
)

// plugin is the server that the kubelet calls back.
type plugin struct {
	api.UnimplementedDevicePluginServer
	disk  string
	every time.Duration
	known map[string]gpu
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends the devices at once, and again whenever they are others than before.
func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	sent := ""
	for {
		found, err := readGPUs(p.disk)
		if err != nil {
			return fmt.Errorf("%s: %w", p.disk, err)
		}
		devices := p.devices(found)
		if now := fmt.Sprint(devices); now != sent {
			if err := stream.Send(&api.ListAndWatchResponse{Devices: devices}); err != nil {
				return err
			}
			sent = now
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-time.After(p.every):
		}
	}
}

// devices returns every GPU that was ever listed, in a steady order: health is whether it is listed now.
func (p *plugin) devices(found []gpu) []*api.Device {
	now := map[string]bool{}
	for _, each := range found {
		now[each.UUID] = true
		p.known[each.UUID] = each
	}
	devices := []*api.Device{}
	for _, each := range byIndex(p.known) {
		health := api.Unhealthy
		if now[each.UUID] {
			health = api.Healthy
		}
		devices = append(devices, &api.Device{ID: each.UUID, Health: health})
	}
	return devices
}

// Allocate tells a container which GPUs are its own.
func (p *plugin) Allocate(_ context.Context, asked *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range asked.ContainerRequests {
		visible := map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")}
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{Envs: visible})
	}
	return answer, nil
}

// serve answers until the kubelet's socket is another one: a kubelet that starts again has forgotten its plugins.
func serve(folder string, p *plugin) error {
	kubelet := filepath.Join(folder, filepath.Base(api.KubeletSocket))
	before, err := os.Stat(kubelet)
	if err != nil {
		return err
	}
	own := filepath.Join(folder, endpoint)
	if err := os.Remove(own); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", own)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	defer server.Stop()
	api.RegisterDevicePluginServer(server, p)
	go func() { _ = server.Serve(listener) }()
	if err := register(kubelet); err != nil {
		return err
	}
	log.Printf("registered %s with %s", resource, kubelet)
	for {
		time.Sleep(p.every)
		now, err := os.Stat(kubelet)
		if err != nil {
			return err
		}
		if !os.SameFile(before, now) {
			return fmt.Errorf("the kubelet started again")
		}
	}
}

// register tells the kubelet of this plugin's socket.
func register(kubelet string) error {
	connection, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), callFor)
	defer cancel()
	request := &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource}
	_, err = api.NewRegistrationClient(connection).Register(limited, request)
	return err
}

func main() {
	folder := flag.String("folder", api.DevicePluginPath, "folder of the kubelet's sockets")
	disk := flag.String("hardware", "/dev/disk/by-id/virtio-coldaisle-hw", "disk or file with the hardware record")
	every := flag.Duration("every", 2*time.Second, "how often the hardware is looked at")
	flag.Parse()
	p := &plugin{disk: *disk, every: *every, known: map[string]gpu{}}
	for {
		log.Printf("waits: %v", serve(*folder, p))
		time.Sleep(*every)
	}
}
