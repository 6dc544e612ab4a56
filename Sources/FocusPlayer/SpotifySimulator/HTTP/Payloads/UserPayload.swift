/// The public user object.
struct UserPayload: Encodable, Sendable {
    let displayName: String
    let externalUrls: [String: String]
    let href: String
    let id: String
    let type = "user"
    let uri: String

    /// - Parameters:
    ///   - id: Whose.
    ///   - account: The one user whose name the catalogue tells; others are called by their id.
    init(_ id: String, account: User, base: APIBase) {
        displayName = id == account.id ? account.name : id
        externalUrls = ["spotify": "https://open.spotify.com/user/\(id)"]
        href = base.url("users/\(id)")
        self.id = id
        uri = "spotify:user:\(id)"
    }
}
