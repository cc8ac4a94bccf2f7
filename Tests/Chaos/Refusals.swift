import Contract
import DeviceKit
import FoundationEssentials

/// The commands that must fail, or may: each ends with exactly one error that its kind allows.
extension Worker {
    func refused() async {
        let stranger = SlideshowID(id: newID())
        let name = unique("Album")
        switch random.next() % 7 {
        case 0:
            await fails(
                "notFound", CircuitPort.updateSlideshow,
                UpdateSlideshow(id: stranger.id, name: name))
        case 1: await fails("notFound", CircuitPort.deleteSlideshow, stranger)
        case 2:
            await fails(
                "invalidName", CircuitPort.createSlideshow,
                CreateSlideshow(id: stranger.id, name: " ", photos: []))
        case 3:
            await fails(
                "noPhotos", CircuitPort.createSlideshow,
                CreateSlideshow(id: stranger.id, name: name, photos: [instance.empty]))
        case 4: await fails("unbound", Symbol<String, String>("Chaos.nobody"), name)
        case 5:
            await fails(
                "malformed", Symbol<String, String>(CircuitPort.updateSlideshow.name), name)
        default: await refusedLater(stranger.id, name)
        }
    }

    /// Nobody waits for it: its failure is told in `Kernel.Errors`, once.
    private func refusedLater(_ id: UUID, _ name: String) async {
        let update = UpdateSlideshow(id: id, name: name)
        do {
            try await client.dispatch(CircuitPort.updateSlideshow, update)
            try await wait(for: "the error of a command") { errors(of: id) > 0 }
            strangers.append(id)
            ledger.namedErrors += 1
        } catch {
            ledger.note(.lost, "a command that must fail: \(error)")
        }
    }

    private func fails<P: Sendable, O: Sendable>(
        _ code: String, _ symbol: Symbol<P, O>, _ payload: P
    ) async {
        do {
            let output = try await client.call(symbol, payload)
            ledger.note(.diverged, "\(symbol.name) must fail with \(code) and gave \(output)")
        } catch {
            let said = KernelError(error)
            if said.code.rawValue == code {
                ledger.namedErrors += 1
            } else {
                ledger.note(.diverged, "\(symbol.name) must fail with \(code), not \(said)")
            }
        }
    }

    func poison() async { await fails("poisoned", Post.poison, unique("poison")) }

    /// It may not be repeated: it is done, or it is lost with its device and told so.
    func sendMail() async {
        let text = unique("mail")
        ledger.atPost += 1
        defer { ledger.atPost -= 1 }
        do {
            let said = try await client.call(Post.mail, text)
            mail.append((text, true))
            if said != text { ledger.note(.diverged, "\(text) gave \(said)") }
        } catch {
            let said = KernelError(error)
            mail.append((text, false))
            if said.code == .deviceLost {
                ledger.namedErrors += 1
            } else {
                ledger.note(.lost, "\(text): \(said)")
            }
        }
    }
}
