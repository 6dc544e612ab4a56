package import ArgumentParser
internal import BusKeys
internal import Compose
internal import Foundation
internal import Support

package struct KeysCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the keys of a bus: the broker and each process have one.",
        discussion: """
            segue keys init                   makes the folder 'keys', and the keys of the broker and of your own tools
            segue keys add music-service      makes the key of a process: keys/music-service.key
            segue keys list
            segue keys rotate music-service   replaces a key, which is refused at once
            segue keys revoke music-service   removes a key, which is refused at once

            A process uses the key whose path SEGUE_BUS_CURVE contains. 'x-keys' in a compose file gives each service its \
            own key. A broker that runs applies all changes by itself. A key file may be moved to another machine; only \
            its owner may read it and enter its folder. The role of a key decides what its owner may do: see \
            'segue keys add --help' and 'segue access'.
            """,
        subcommands: [
            KeysInitCommand.self, KeysAddCommand.self, KeysListCommand.self, KeysRotateCommand.self,
            KeysRevokeCommand.self,
        ])

    package init() {}
}

/// The option that names the folder of the keys.
struct KeyFolderOption: ParsableArguments, Sendable {
    static let standard = "keys"

    @Option(help: ArgumentHelp("The folder of the keys.", valueName: "folder"))
    var keys = Self.standard

    var folder: KeyFolder { KeyFolder(path: keys) }
}

struct KeysInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a folder for the keys of a bus, and the keys of the broker and of your tools.",
        discussion: """
            segue keys init --keys config/keys

            The key of your own tools is 'operator', with the role operator.

            The exit status is 78 if the folder has keys already.
            """)

    @OptionGroup var option: KeyFolderOption

    func run() async throws {
        let folder = try KeyFolder.create(option.keys)
        let own = try folder.add(KeyRole.operatorName)
        try await Console.output.writeLines([folder.file(of: KeyFile.brokerName), own])
    }
}

struct KeysAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make keys for processes, and print the paths of their key files.",
        discussion: """
            segue keys add music-service auth-service
            segue keys add visitor --role monitor --until 12h
            segue keys add amelies-phone --role device --session amelie

            service   may do what 'segue access' prints about its name (default)
            device    may do what 'segue access' prints about devices, in one session
            operator  may do everything (default for the name 'operator')
            monitor   reads everything, and changes nothing

            Roles have an effect as soon as 'segue access --write' has written the rights of services and devices.

            The exit status is 78 if a name has a key already.
            """)

    @Argument(help: ArgumentHelp("The name of a process, such as that of its service.", valueName: "name"))
    var names: [String]

    @Option(help: "The role of the owners: \(KeyRole.names.joined(separator: ", ")).")
    var role: String?

    @Option(help: "The only session that a device sees.")
    var session: String?

    @Option(
        help: ArgumentHelp("The broker refuses the keys from this time on: \(FutureTime.forms).", valueName: "time"),
        transform: FutureTime.argument)
    var until: FutureTime?

    @OptionGroup var option: KeyFolderOption

    func validate() throws {
        for name in names {
            do { _ = try KeyRole(role, session: session, of: name) } catch { throw ValidationError("\(error)") }
        }
    }

    func run() async throws {
        try await Console.output.writeLines(
            try option.folder.add(names, role: role, session: session, until: until?.date))
    }
}

struct KeysListCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys that the broker accepts, by name.",
        discussion: """
            segue keys list --json | jq .publicKey

            The exit status is 78 if the folder has no keys.
            """)

    @OptionGroup var option: KeyFolderOption

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Console.output.writeList(
            try option.folder.known().list.map(Row.init), asJSON: output.json, empty: "no process has a key")
    }

    private struct Row: Encodable, ListRow {
        let name: String
        let role: String
        let session: String?
        let publicKey: CurveKey
        let nkey: String?
        let until: Date?

        init(_ key: KnownKey) {
            (name, role, session) = (key.name, key.role.name, key.role.session)
            (publicKey, nkey, until) = (key.publicKey, key.nkey, key.until)
        }

        static var columns: [Column<Row>] {
            [
                Column(name: "NAME", cell: \.name),
                Column(name: "ROLE", cell: \.role),
                Column(name: "SESSION") { $0.session ?? "-" },
                Column(name: "UNTIL") { row in
                    row.until.map { WallTime.text(of: $0) + ($0 <= Date() ? " (expired)" : "") } ?? "-"
                },
                Column(name: "PUBLIC KEY", cell: \.publicKey.description),
            ]
        }
    }
}

struct KeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace a key. The broker refuses the old one at once.",
        discussion: """
            segue keys rotate music-service

            A process that reads its key from this folder continues with the new one. 'segue keys rotate broker' adds an \
            nkey, for NATS, to a broker's key file without one.

            The exit status is 78 if the name has no key.
            """)

    @Argument(help: ArgumentHelp("The name of the process.", valueName: "name"))
    var name: String

    @OptionGroup var option: KeyFolderOption

    func run() async throws {
        try await Console.output.writeLine(try option.folder.rotate(name))
    }
}

struct KeysRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Remove keys and their files. The broker refuses them at once.",
        discussion: """
            segue keys revoke visitor

            The exit status is 78 if the name has no key.
            """)

    @Argument(help: ArgumentHelp("The name of a process.", valueName: "name"))
    var names: [String]

    @OptionGroup var option: KeyFolderOption

    func run() async throws {
        let folder = option.folder
        for name in names {
            try folder.revoke(name)
            try await Console.output.writeLine(
                "removed the key of \(name) and \(folder.file(of: name)); a broker that runs refuses the key from now on, "
                    + "NATS servers after 'segue export nats-permissions' and a reload")
        }
    }
}

/// A point in time after now, on the command line.
struct FutureTime: FormedArgument, Sendable {
    static let forms =
        "a time to come such as 2027-03-01T12:00:00Z, '2027-03-01 12:00' or 2027-03-01, or a duration such as 12h"

    let date: Date

    init?(argument: String) {
        if let duration = Duration(compose: argument), duration > .zero {
            date = Date().addingTimeInterval(duration / .seconds(1))
        } else if let date = WallTime.date(from: argument), date > Date() {
            self.date = date
        } else {
            return nil
        }
    }
}
