internal import Vocabulary

/// The devices of an account.
struct DevicesPayload: Decodable {
    struct Item: Decodable {
        let id: String?
        let name: String?
        let type: String?
        let isActive: Bool?
        let isRestricted: Bool?
    }

    let devices: [Tolerant<Item>]

    /// Those that take commands: a restricted device, or one without an id, does not.
    var controllable: [Device] {
        devices.compactMap(\.value).compactMap { item in
            guard let id = item.id, item.isRestricted != true else { return nil }
            return Device(
                id: id, name: item.name ?? id, type: item.type ?? "Unknown", isActive: item.isActive ?? false)
        }
    }
}
