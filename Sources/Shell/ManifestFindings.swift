import DeviceKit
import Installation

/// The manifests by which a kernel runs its devices, compared with those that stand there now: it
/// reads them once, when it starts.
enum ManifestFindings {
    /// - Parameter host: the kernel's own region.
    static func all(_ host: Value) -> [Finding] {
        // An older kernel does not tell.
        guard let rows = host["manifests"]?.array else { return [] }
        let advice = "`concentric down`, then `concentric up`"
        let changed = rows.compactMap { row -> Finding? in
            guard let device = row["device"]?.text, let file = row["file"]?.text else { return nil }
            let now = ManifestSearch.digest(of: file)
            guard now != row["digest"]?.text else { return nil }
            let what = now == nil ? "is gone or cannot be read" : "has changed"
            return .warn(
                .versions, "\(device) runs by a manifest (\(file)) that \(what) since", advice)
        }
        let known = Set(rows.compactMap { $0["device"]?.text })
        let new = present(host["devices"]?.text).filter { !known.contains($0) }.map { name in
            Finding.warn(
                .versions, "the kernel was started before \(name) had a manifest", advice)
        }
        let findings = changed + new
        return findings.isEmpty
            ? [.ok(.versions, "the kernel runs by the manifests as they are")] : findings
    }

    /// The devices that the folder of the kernel names now.
    private static func present(_ folder: String?) -> [String] {
        guard let folder,
            let search = try? ManifestSearch(
                given: folder, environment: nil, executable: InstanceFolders.program)
        else { return [] }
        return search.scan().compactMap { try? $0.get().manifest }
            .filter { $0.role == .device }.map(\.name)
    }
}
