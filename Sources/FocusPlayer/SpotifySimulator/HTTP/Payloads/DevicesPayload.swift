import Hummingbird

/// What `/me/player/devices` answers.
struct DevicesPayload: ResponseEncodable, Sendable {
    let devices: [Item]

    struct Item: Encodable, Sendable {
        let id: String
        let isActive: Bool
        let isPrivateSession = false
        let isRestricted: Bool
        let name: String
        let supportsVolume: Bool
        let type: String
        let volumePercent: Int?
    }

    init(_ devices: [Device]) {
        self.devices = devices.map { device in
            Item(
                id: device.id,
                isActive: device.isActive,
                isRestricted: device.isRestricted,
                name: device.name,
                supportsVolume: device.volume != nil,
                type: device.type,
                volumePercent: device.volume
            )
        }
    }
}
