import Hummingbird

/// The private user object, with what the token's scopes let the client see.
struct ProfilePayload: ResponseEncodable {
    let displayName: String
    let email: String?
    let externalUrls: [String: String]
    let href: String
    let id: String
    let product: String?
    let type = "user"
    let uri: String

    init(_ user: User, isPremium: Bool, scopes: Set<Scope>, base: APIBase) {
        displayName = user.name
        email = scopes.contains(.userReadEmail) ? user.email : nil
        externalUrls = ["spotify": "https://open.spotify.com/user/\(user.id)"]
        href = base.url("users/\(user.id)")
        id = user.id
        product = scopes.contains(.userReadPrivate) ? (isPremium ? "premium" : "free") : nil
        uri = "spotify:user:\(user.id)"
    }
}
