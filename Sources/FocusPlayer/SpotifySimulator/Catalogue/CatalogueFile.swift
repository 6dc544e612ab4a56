import Foundation
import Yams

extension Catalogue {
    /// Reads a catalogue file, in YAML.
    ///
    /// - Parameter path: Relative to the working directory, or absolute.
    /// - Throws: `CatalogueError`, which names the file and the line.
    package init(contentsOf path: String) throws {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            throw CatalogueError.unreadable(
                file: path,
                reason: exists ? "it is not a readable UTF-8 file" : "there is no such file"
            )
        }
        try self.init(yaml: text, file: path)
    }

    /// Reads a catalogue from text.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - file: What errors call the text.
    /// - Throws: `CatalogueError`, which names the file and the line.
    init(yaml: String, file: String) throws {
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch let error as YamlError {
            throw CatalogueError(error, file: file)
        }
        guard let root else {
            throw CatalogueError.malformed(file: file, line: nil, problem: "the catalogue is empty")
        }
        self = try CatalogueReader(file: file).catalogue(root)
    }
}

extension CatalogueError {
    /// Keeps the line and the problem of a syntax error; leaves out the excerpt, which spans several lines.
    fileprivate init(_ error: YamlError, file: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self = .malformed(file: file, line: mark.line, problem: problem)
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map { "'\($0)'" }.joined(separator: ", ")
            self = .malformed(file: file, line: context.mark.line, problem: "\(names) is given twice")
        default:
            self = .malformed(file: file, line: nil, problem: "this is not YAML")
        }
    }
}

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

    private func user(_ node: Node) throws -> Catalogue.User {
        let fields = try CatalogueMapping(node, file: file, what: "user", keys: ["id", "name", "email", "premium"])
        return Catalogue.User(
            id: try fields.string("id"),
            name: try fields.string("name"),
            email: try fields.string("email"),
            isPremium: try fields.flag("premium", default: true)
        )
    }

    private func client(_ node: Node) throws -> Catalogue.Client {
        let fields = try CatalogueMapping(node, file: file, what: "a client", keys: ["id", "redirect_uris"])
        let redirectURIs = try fields.list("redirect_uris", default: []).map { node in
            guard let redirectURI = node.string.flatMap(RedirectURI.init) else {
                throw fault(node, "a redirect URI is https, http://127.0.0.1 or http://[::1]; localhost is refused")
            }
            return redirectURI
        }
        return Catalogue.Client(id: try fields.string("id"), redirectURIs: redirectURIs)
    }

    private func device(_ node: Node) throws -> Catalogue.Device {
        let keys: Set = ["id", "name", "type", "active", "restricted", "volume"]
        let fields = try CatalogueMapping(node, file: file, what: "a device", keys: keys)
        return Catalogue.Device(
            id: try fields.string("id"),
            name: try fields.string("name"),
            type: try fields.string("type"),
            isActive: try fields.flag("active", default: false),
            isRestricted: try fields.flag("restricted", default: false),
            volume: try fields.percentage("volume")
        )
    }

    private func playlist(_ node: Node, user: Catalogue.User) throws -> Catalogue.Playlist {
        let keys: Set = ["id", "name", "description", "owner", "collaborative", "songs"]
        let fields = try CatalogueMapping(node, file: file, what: "a playlist", keys: keys)
        let id = try fields.string("id")
        guard id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw fault(try fields.required("id"), "'\(id)' is no playlist id; use letters and digits, as Spotify does")
        }
        return Catalogue.Playlist(
            id: id,
            name: try fields.string("name"),
            description: try fields.string("description", default: ""),
            owner: try fields.string("owner", default: user.id),
            isCollaborative: try fields.flag("collaborative", default: false),
            songs: try fields.list("songs").flatMap(songs)
        )
    }

    private func songs(_ node: Node) throws -> [Catalogue.Song] {
        guard let songs = node.string.flatMap(Catalogue.Song.songs(inNotation:)) else {
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

/// A YAML mapping whose keys are known, read field by field with the line of whatever is wrong.
struct CatalogueMapping {
    private let node: Node
    private let mapping: Node.Mapping
    private let file: String
    private let what: String

    /// - Throws: `CatalogueError` when the node is no mapping, or has a key that nobody reads: a misspelt one would
    ///   otherwise be ignored in silence.
    init(_ node: Node, file: String, what: String, keys: Set<String>) throws {
        guard let mapping = node.mapping else {
            let problem = "\(what) must be a mapping with \(keys.sorted().joined(separator: ", "))"
            throw CatalogueError.malformed(file: file, line: node.mark?.line, problem: problem)
        }
        for key in mapping.keys {
            let name = key.string ?? ""
            guard keys.contains(name) else {
                let problem = "\(what) has no key '\(name)'; it has \(keys.sorted().joined(separator: ", "))"
                throw CatalogueError.malformed(file: file, line: key.mark?.line, problem: problem)
            }
        }
        self.node = node
        self.mapping = mapping
        self.file = file
        self.what = what
    }

    func required(_ key: String) throws -> Node {
        guard let value = mapping[key] else { throw fault(node, "\(what) lacks '\(key)'") }
        return value
    }

    func string(_ key: String, default fallback: String? = nil) throws -> String {
        if let fallback, mapping[key] == nil { return fallback }
        let value = try required(key)
        guard let string = value.string, !string.isEmpty else { throw fault(value, "'\(key)' must be a text") }
        return string
    }

    func flag(_ key: String, default fallback: Bool) throws -> Bool {
        guard let value = mapping[key] else { return fallback }
        guard let flag = value.bool else { throw fault(value, "'\(key)' must be true or false") }
        return flag
    }

    func percentage(_ key: String) throws -> Int? {
        guard let value = mapping[key] else { return nil }
        guard let number = value.int, (0...100).contains(number) else {
            throw fault(value, "'\(key)' must be a number from 0 to 100")
        }
        return number
    }

    func list(_ key: String, default fallback: [Node]? = nil) throws -> [Node] {
        if let fallback, mapping[key] == nil { return fallback }
        let value = try required(key)
        guard let sequence = value.sequence else { throw fault(value, "'\(key)' must be a list") }
        return Array(sequence)
    }

    private func fault(_ node: Node, _ problem: String) -> CatalogueError {
        .malformed(file: file, line: node.mark?.line, problem: problem)
    }
}

/// A catalogue file that cannot be used. Its description is one line that a person can act on.
package struct CatalogueError: Error, Sendable, Equatable, CustomStringConvertible {
    /// `catalogue.unreadable` or `catalogue.malformed`; stable.
    package let code: String
    /// What is wrong, beginning with the file and, where there is one, the line.
    package let message: String

    /// The file cannot be opened or is not UTF-8.
    static func unreadable(file: String, reason: String) -> Self {
        Self(code: "catalogue.unreadable", message: "\(file): cannot read the catalogue: \(reason)")
    }

    /// The file has the fault at the line, counted from 1.
    static func malformed(file: String, line: Int?, problem: String) -> Self {
        let place = line.map { "\(file):\($0)" } ?? file
        return Self(code: "catalogue.malformed", message: "\(place): \(problem)")
    }

    package var description: String { message }
}
