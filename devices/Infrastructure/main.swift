// The device Infrastructure.
