import Foundation
import YAMLText
import Yams

extension Catalogue {
    /// Reads a catalogue from a YAML file.
    ///
    /// - Parameter path: Absolute, or relative to the working directory.
    /// - Throws: `CatalogueError` with the file and, if it is known, the line.
    package init(contentsOf path: String) throws {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            throw CatalogueError.unreadable(
                file: path,
                reason: exists ? "the file cannot be opened or is not UTF-8" : "there is no such file"
            )
        }
        try self.init(yaml: text, file: path)
    }

    /// Reads a catalogue from YAML.
    ///
    /// - Parameters:
    ///   - yaml: The content of the file.
    ///   - file: The name of the file in errors.
    /// - Throws: `CatalogueError` with the file and, if it is known, the line.
    init(yaml: String, file: String) throws {
        let root: Node?
        do {
            root = try YAMLText.root(of: yaml)
        } catch {
            throw CatalogueError.malformed(file: file, line: error.line, problem: error.description)
        }
        guard let root else {
            throw CatalogueError.malformed(file: file, line: nil, problem: "the catalogue is empty")
        }
        let tree = CatalogueTree(root: root, file: file)
        try tree.check()
        self.init(try tree.decode())
        let songs = Set(accounts.flatMap(\.playlists).flatMap(\.songs).map(\.id))
        if let unknown = withdrawnSongs.first(where: { !songs.contains($0.id) }) {
            throw tree.fault(root["withdrawn_songs"], "the withdrawn song '\(unknown.title)' is in no playlist")
        }
        for (account, node) in zip(accounts, tree.accounts) where account.devices.count(where: \.isActive) > 1 {
            throw tree.fault(node["devices"], "more than one device is active; Spotify has at most one")
        }
    }

    private init(_ file: CatalogueFile) {
        clients = file.clients.map { Client(id: $0.id, redirectURIs: $0.redirectURIs ?? []) }
        let first = CatalogueFile.Account(user: file.user, devices: file.devices, playlists: file.playlists)
        accounts = ([first] + (file.accounts ?? [])).map(Account.init)
        withdrawnSongs = (file.withdrawnSongs ?? []).flatMap(\.songs)
    }
}

extension Catalogue.Account {
    fileprivate init(_ file: CatalogueFile.Account) {
        user = Catalogue.User(
            id: file.user.id, name: file.user.name, email: file.user.email, isPremium: file.user.premium ?? true)
        devices = file.devices.map {
            Catalogue.Speaker(
                id: $0.id, name: $0.name, type: $0.type, isActive: $0.active ?? false,
                isRestricted: $0.restricted ?? false, volume: $0.volume?.value)
        }
        playlists = file.playlists.map {
            Catalogue.Playlist(
                id: $0.id.value, name: $0.name, description: $0.description ?? "", owner: $0.owner ?? file.user.id,
                isCollaborative: $0.collaborative ?? false, songs: $0.songs.flatMap(\.songs))
        }
    }
}

/// The content of a catalogue file. Optional properties may be left out.
private struct CatalogueFile: Decodable {
    struct User: Decodable {
        let id: String
        let name: String
        let email: String
        let premium: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable { case id, name, email, premium }
    }

    struct Client: Decodable {
        let id: String
        let redirectURIs: [RedirectURI]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case id
            case redirectURIs = "redirect_uris"
        }
    }

    struct Speaker: Decodable {
        let id: String
        let name: String
        let type: String
        let active: Bool?
        let restricted: Bool?
        let volume: Percentage?

        enum CodingKeys: String, CodingKey, CaseIterable { case id, name, type, active, restricted, volume }
    }

    struct Playlist: Decodable {
        let id: PlaylistID
        let name: String
        let description: String?
        let owner: String?
        let collaborative: Bool?
        let songs: [SongLine]

        enum CodingKeys: String, CodingKey, CaseIterable { case id, name, description, owner, collaborative, songs }
    }

    struct Percentage: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try container.decode(Int.self)
            guard (0...100).contains(value) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "\(value) is not a percentage; write a number from 0 to 100")
            }
        }
    }

    struct PlaylistID: Decodable {
        let value: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try container.decode(String.self)
            guard value.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "'\(value)' is not a playlist id; use letters and digits")
            }
        }
    }

    /// Songs in the notation of `Catalogue.Song.songs(inNotation:)`.
    struct SongLine: Decodable {
        let songs: [Catalogue.Song]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let songs = Catalogue.Song.songs(inNotation: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription:
                        "songs are written 'Artist / Album: Title; Title' or 'Artist / Album: Title 1..30'")
            }
            self.songs = songs
        }
    }

    struct Account: Decodable {
        let user: User
        let devices: [Speaker]
        let playlists: [Playlist]

        enum CodingKeys: String, CodingKey, CaseIterable { case user, devices, playlists }
    }

    /// The user, the devices and the playlists of the first account.
    let user: User
    let clients: [Client]
    let devices: [Speaker]
    let playlists: [Playlist]
    /// The other accounts.
    let accounts: [Account]?
    let withdrawnSongs: [SongLine]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case user, clients, devices, playlists, accounts
        case withdrawnSongs = "withdrawn_songs"
    }
}

/// The YAML tree of a catalogue, which contains the line numbers for errors.
private struct CatalogueTree {
    let root: Node
    let file: String

    /// The nodes of the accounts. The first account's keys are those of the catalogue itself.
    var accounts: [Node] { [root] + others }

    private var others: [Node] { Array(root["accounts"]?.sequence ?? []) }

    /// Refuses errors that decoding ignores: unknown keys, which may be misspelt, empty strings, and entries with the
    /// same id.
    func check() throws {
        try check(root, named: "the catalogue", keys: CatalogueFile.CodingKeys.self)
        try checkList("client", of: root, CatalogueFile.Client.CodingKeys.self)
        for node in others { try check(node, named: "an account", keys: CatalogueFile.Account.CodingKeys.self) }
        var users: Set<String> = []
        for node in accounts {
            if let user = node["user"] { try check(user, named: "user", keys: CatalogueFile.User.CodingKeys.self) }
            try checkList("device", of: node, CatalogueFile.Speaker.CodingKeys.self)
            try checkList("playlist", of: node, CatalogueFile.Playlist.CodingKeys.self)
            guard let id = node["user"]?["id"]?.string, !users.insert(id).inserted else { continue }
            throw fault(node["user"], "two accounts have the user id '\(id)'")
        }
    }

    func decode() throws -> CatalogueFile {
        do {
            return try YAMLDecoder().decode(from: root)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw fault(node(context.codingPath), "\(name(context.codingPath)) lacks '\(key.stringValue)'")
        } catch DecodingError.typeMismatch(let type, let context), DecodingError.valueNotFound(let type, let context) {
            throw fault(node(context.codingPath), "\(name(context.codingPath)) must be \(Self.name(type))")
        } catch DecodingError.dataCorrupted(let context) {
            throw fault(node(context.codingPath), context.debugDescription)
        }
    }

    func fault(_ node: Node?, _ problem: String) -> CatalogueError {
        .malformed(file: file, line: node?.mark?.line, problem: problem)
    }

    private func checkList(
        _ entry: String, of parent: Node, _ keys: (some CodingKey & CaseIterable).Type
    ) throws {
        var ids: Set<String> = []
        for node in parent["\(entry)s"]?.sequence ?? [] {
            try check(node, named: "a \(entry)", keys: keys)
            guard let id = node["id"]?.string, !ids.insert(id).inserted else { continue }
            throw fault(node, "two \(entry)s have the id '\(id)'")
        }
    }

    private func check(_ node: Node, named what: String, keys: (some CodingKey & CaseIterable).Type) throws {
        let names = keys.allCases.map(\.stringValue).sorted()
        for (key, value) in node.mapping ?? [:] {
            guard let name = key.string, names.contains(name) else {
                let problem = "\(what) has the unknown key '\(key.string ?? "")'; use \(names.joined(separator: ", "))"
                throw fault(key, problem)
            }
            if value.string?.isEmpty == true { throw fault(value, "'\(name)' is empty") }
        }
    }

    private func node(_ path: [any CodingKey]) -> Node? {
        path.reduce(root) { node, key in key.intValue.map { node?.sequence?[$0] } ?? node?[key.stringValue] }
    }

    /// The name of a node in errors: `'songs'` for a value, `a playlist` for an entry of the list of playlists.
    private func name(_ path: [any CodingKey]) -> String {
        guard let last = path.last else { return "the catalogue" }
        guard last.intValue != nil, let list = path.dropLast().last else { return "'\(last.stringValue)'" }
        return list.stringValue == "accounts" ? "an account" : "a \(list.stringValue.dropLast())"
    }

    private static func name(_ type: any Any.Type) -> String {
        switch type {
        case is Node.Mapping.Type: "a mapping"
        case is Node.Sequence.Type: "a list"
        case is Bool.Type: "true or false"
        case is Int.Type: "a number"
        default: "a string"
        }
    }
}

/// An error of a catalogue file. The description is one line of text.
package struct CatalogueError: Error, Sendable, Equatable, CustomStringConvertible {
    /// `catalogue.unreadable` or `catalogue.malformed`.
    package let code: String
    /// The file, the line if there is one, and the problem.
    package let message: String

    /// The file cannot be opened or is not UTF-8.
    static func unreadable(file: String, reason: String) -> Self {
        Self(code: "catalogue.unreadable", message: "\(file): cannot read the catalogue: \(reason)")
    }

    /// The content of the file is invalid.
    /// - Parameter line: The line of the error, counted from 1. `nil` if the line is unknown.
    static func malformed(file: String, line: Int?, problem: String) -> Self {
        let place = line.map { "\(file):\($0)" } ?? file
        return Self(code: "catalogue.malformed", message: "\(place): \(problem)")
    }

    package var description: String { message }
}
