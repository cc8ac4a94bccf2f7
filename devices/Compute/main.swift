import Contract
import Control
import DeviceKit

Device.serve { device in
    device.bind(ComputePort.createSlideshow) { _, new in try SlideshowCreation.create(new) }
    device.bind(ComputePort.updateSlideshow) { _, change in try SlideshowUpdate.update(change) }
    device.bind(ComputePort.applyConfig) { _, change in SlideshowUpdate.applyConfig(change) }
    device.bind(ComputePort.appendPhotos) { _, input in PhotoAppending.append(input) }
    device.bind(ComputePort.selectPhotos) { _, input in PhotoSelection.select(input) }
}
