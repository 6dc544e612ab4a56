/// A Spotify device that could play.
package struct Device: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    package var name: String
    /// As Spotify names it: `Computer`, `Smartphone`, `Speaker`.
    package var type: String
    package var isActive: Bool

    package init(id: String, name: String, type: String, isActive: Bool) {
        self.id = id
        self.name = name
        self.type = type
        self.isActive = isActive
    }
}
