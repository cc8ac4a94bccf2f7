// The program DeviceZoo.
