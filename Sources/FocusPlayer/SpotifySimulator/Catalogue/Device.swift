/// A Spotify Connect device.
struct Device: Codable, Sendable, Equatable {
    /// What commands name it by.
    var id: String
    /// What people call it.
    var name: String
    /// `Computer`, `Smartphone`, `Speaker` and so on.
    var type: String
    /// Playback goes to the active device when a command names none; at most one is.
    var isActive: Bool
    /// A restricted device is listed but accepts no command from the Web API.
    var isRestricted: Bool
    /// In percent; `nil` when the device has no volume control.
    var volume: Int?
}
