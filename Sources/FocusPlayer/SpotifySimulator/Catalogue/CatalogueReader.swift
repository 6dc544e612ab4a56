import Yams

/// Turns the YAML tree into a `Catalogue`, and every surprise in it into a `CatalogueError` with its line.
struct CatalogueReader {
    let file: String

    func catalogue(_ node: Node) throws -> Catalogue {
        let root = try CatalogueMapping(
            node,
            file: file,
            what: "the catalogue",
            keys: ["user", "clients", "devices", "playlists"]
        )
        let user = try user(root.required("user"))
        let catalogue = Catalogue(
            user: user,
            clients: try root.list("clients").map(client),
            devices: try root.list("devices").map(device),
            playlists: try root.list("playlists").map { try playlist($0, user: user) }
        )
        try requireUnique(root.list("clients"), "client")
        try requireUnique(root.list("devices"), "device")
        try requireUnique(root.list("playlists"), "playlist")
        if catalogue.devices.count(where: \.isActive) > 1 {
            throw fault(try root.required("devices"), "more than one device is active; Spotify has at most one")
        }
        return catalogue
    }

    private func user(_ node: Node) throws -> User {
        let fields = try CatalogueMapping(node, file: file, what: "user", keys: ["id", "name", "email", "premium"])
        return User(
            id: try fields.string("id"),
            name: try fields.string("name"),
            email: try fields.string("email"),
            isPremium: try fields.flag("premium", default: true)
        )
    }

    private func client(_ node: Node) throws -> Client {
        let fields = try CatalogueMapping(node, file: file, what: "a client", keys: ["id", "redirect_uris"])
        let redirectURIs = try fields.list("redirect_uris", default: []).map { node in
            guard let redirectURI = node.string.flatMap(RedirectURI.init) else {
                throw fault(node, "a redirect URI is https, http://127.0.0.1 or http://[::1]; localhost is refused")
            }
            return redirectURI
        }
        return Client(id: try fields.string("id"), redirectURIs: redirectURIs)
    }

    private func device(_ node: Node) throws -> Device {
        let keys: Set = ["id", "name", "type", "active", "restricted", "volume"]
        let fields = try CatalogueMapping(node, file: file, what: "a device", keys: keys)
        return Device(
            id: try fields.string("id"),
            name: try fields.string("name"),
            type: try fields.string("type"),
            isActive: try fields.flag("active", default: false),
            isRestricted: try fields.flag("restricted", default: false),
            volume: try fields.percentage("volume")
        )
    }

    private func playlist(_ node: Node, user: User) throws -> Playlist {
        let keys: Set = ["id", "name", "description", "owner", "collaborative", "songs"]
        let fields = try CatalogueMapping(node, file: file, what: "a playlist", keys: keys)
        let id = try fields.string("id")
        guard id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw fault(try fields.required("id"), "'\(id)' is no playlist id; use letters and digits, as Spotify does")
        }
        return Playlist(
            id: id,
            name: try fields.string("name"),
            description: try fields.string("description", default: ""),
            owner: try fields.string("owner", default: user.id),
            isCollaborative: try fields.flag("collaborative", default: false),
            songs: try fields.list("songs").flatMap(songs)
        )
    }

    private func songs(_ node: Node) throws -> [Song] {
        guard let songs = node.string.flatMap(Song.songs(inNotation:)) else {
            throw fault(node, "songs are written 'Artist / Album: Title; Title' or 'Artist / Album: Title 1..30'")
        }
        return songs
    }

    private func requireUnique(_ nodes: [Node], _ what: String) throws {
        var seen: Set<String> = []
        for node in nodes {
            guard let id = node["id"]?.string, !seen.insert(id).inserted else { continue }
            throw fault(node, "two \(what)s have the id '\(id)'")
        }
    }

    private func fault(_ node: Node, _ problem: String) -> CatalogueError {
        .malformed(file: file, line: node.mark?.line, problem: problem)
    }
}
