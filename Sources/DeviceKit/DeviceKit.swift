// The room DeviceKit.
