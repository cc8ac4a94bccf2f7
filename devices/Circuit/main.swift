import Contract
import Control
import DeviceKit

Device.serve { device in
    device.bind(CircuitPort.fetchAll, to: LibraryPipes.fetchAll)
    device.bind(CircuitPort.saveConfig, to: LibraryPipes.saveConfig)
    device.bind(CircuitPort.createSlideshow, to: SlideshowPipes.create)
    device.bind(CircuitPort.updateSlideshow, to: SlideshowPipes.update)
    device.bind(CircuitPort.updateConfig, to: SlideshowPipes.updateConfig)
    device.bind(CircuitPort.deleteSlideshow, to: SlideshowPipes.delete)
    device.bind(CircuitPort.openSlideshow, to: SlideshowPipes.open)
    device.bind(CircuitPort.closeSlideshow, to: SlideshowPipes.close)
    device.bind(CircuitPort.addPhotos, to: SlideshowPipes.addPhotos)
    device.bind(CircuitPort.tellLeftOut) { _, leftOut in throw leftOut.error }
    device.onReady { start in
        // The library is read once in the life of a kernel, whichever process of this device is
        // there.
        if start.revision(of: LibraryState.self).counter == 0 {
            start.dispatch(CircuitPort.fetchAll, ())
        }
    }
}
