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
            segue keys init                   makes the folder 'keys', and the broker's key
            segue keys add music-service      makes the key of a process: keys/music-service.key
            segue keys list
            segue keys rotate music-service   replaces a key, which is refused at once
            segue keys revoke music-service   removes a key, which is refused at once

            A process uses the key whose path SEGUE_BUS_CURVE contains. 'x-keys' in a compose file gives each service its \
            own key. A broker that runs applies all changes by itself. A key file may be moved to another machine; only \
            its owner may read it and enter its folder.
            """,
        subcommands: [
            KeysInitCommand.self, KeysAddCommand.self, KeysListCommand.self, KeysRotateCommand.self,
            KeysRevokeCommand.self,
        ])

    package init() {}
}

/// The option that names the folder of the keys.
struct KeyFolderOption: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("The folder of the keys.", valueName: "folder"))
    var keys = "keys"

    var folder: KeyFolder { KeyFolder(path: keys) }
}

struct KeysInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a folder for the keys of a bus, and the broker's key.",
        discussion: "segue keys init --keys config/keys")

    @OptionGroup var option: KeyFolderOption

    func run() async throws {
        let folder = try KeyFolder.create(option.keys)
        try await Console.output.writeLine(folder.file(of: KeyFile.brokerName))
    }
}

struct KeysAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make keys for processes, and print the paths of their key files.",
        discussion: """
            segue keys add music-service auth-service
            segue keys add visitor --until 12h
            """)

    @Argument(help: ArgumentHelp("The name of a process, such as that of its service.", valueName: "name"))
    var names: [String]

    @Option(
        help: ArgumentHelp("The broker refuses the keys from this time on: \(FutureTime.forms).", valueName: "time"))
    var until: FutureTime?

    @OptionGroup var option: KeyFolderOption

    func run() async throws {
        try await Console.output.writeLines(try option.folder.add(names, until: until?.date))
    }
}

struct KeysListCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys that the broker accepts, by name.",
        discussion: "segue keys list --json | jq .publicKey")

    @OptionGroup var option: KeyFolderOption

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Console.output.writeList(
            try option.folder.known().list.map(Row.init), asJSON: output.json, empty: "no process has a key")
    }

    private struct Row: Encodable, ListRow {
        let name: String
        let publicKey: CurveKey
        let until: Date?

        init(_ key: KnownKey) {
            (name, publicKey, until) = (key.name, key.publicKey, key.until)
        }

        static var columns: [Column<Row>] {
            [
                Column(name: "NAME", cell: \.name),
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

            A process that reads its key from this folder continues with the new one.
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
        discussion: "segue keys revoke visitor")

    @Argument(help: ArgumentHelp("The name of a process.", valueName: "name"))
    var names: [String]

    @OptionGroup var option: KeyFolderOption

    func run() async throws {
        for name in names { try option.folder.revoke(name) }
    }
}

/// A point in time after now, on the command line.
struct FutureTime: ExpressibleByArgument, Sendable {
    static let forms =
        "a time such as 2027-03-01T12:00:00Z, '2027-03-01 12:00' or 2027-03-01, or a duration such as 12h"

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
