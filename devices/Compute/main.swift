import Contract
import Control
import DeviceKit

Device.serve { device in
    device.bind(ComputePort.createSlideshow, pure: { new in try SlideshowCreation.create(new) })
    device.bind(ComputePort.updateSlideshow, pure: { change in try SlideshowUpdate.update(change) })
    device.bind(ComputePort.applyConfig, pure: { change in SlideshowUpdate.applyConfig(change) })
    device.bind(ComputePort.appendPhotos, pure: { input in PhotoAppending.append(input) })
    device.bind(ComputePort.selectPhotos, pure: { input in PhotoSelection.select(input) })
}
