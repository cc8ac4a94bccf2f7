import Contract
import Control
import DeviceKit
import Glibc

/// A handler that has nothing to return stores this.
struct Done: Codable, Sendable {}

Device.serve { device in
    guard let data = getenv("CONCENTRIC_DATA") else {
        throw ApplicationError(
            code: ApplicationError.Code.storage, message: "CONCENTRIC_DATA is not set")
    }
    let store = try Store(directory: String(cString: data))
    device.bind(InfrastructurePort.fetchSummaries) { _, _ in
        try await store.read { try $0.fetchSummaries() }
    }
    device.bind(InfrastructurePort.fetchSlideshow) { _, id in
        try await store.slideshow(id.id)
    }
    device.bind(InfrastructurePort.fetchForUpdate) { _, update in
        SlideshowChange(slideshow: try await store.slideshow(update.id), update: update)
    }
    device.bind(InfrastructurePort.fetchForConfig) { _, update in
        ConfigChange(slideshow: try await store.slideshow(update.id), update: update)
    }
    device.bind(InfrastructurePort.insertSlideshow) { kernel, slideshow in
        try await store.write(kernel) { try $0.insert(slideshow) }
    }
    device.bind(InfrastructurePort.saveSlideshow) { kernel, slideshow in
        _ = try await store.write(kernel) { library in
            try library.save(slideshow)
            return Done()
        }
    }
    device.bind(InfrastructurePort.replaceSlideshow) { kernel, changed in
        try await store.write(kernel) { Replacement(stored: try $0.replace(changed)) }
    }
    device.bind(InfrastructurePort.deleteSlideshow) { kernel, id in
        _ = try await store.write(kernel) { library in
            guard try library.delete(id.id) else { throw ApplicationError.missing(id.id) }
            return Done()
        }
    }
    device.bind(InfrastructurePort.loadConfig) { _, _ in
        try await store.read { try $0.loadConfig() }
    }
    device.bind(InfrastructurePort.saveConfig) { kernel, config in
        _ = try await store.write(kernel) { library in
            try library.save(config)
            return Done()
        }
    }
    device.bind(InfrastructurePort.scanPhotos) { _, request in try PhotoScanner.scan(request) }
}
