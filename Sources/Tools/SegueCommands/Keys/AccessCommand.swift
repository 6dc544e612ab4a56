internal import AppContract
package import ArgumentParser
internal import BusAccess
internal import BusKeys
internal import EventBus
internal import Foundation
internal import Support

package struct AccessCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Print what each service and device may do on a bus with keys; write the rights for the broker.",
        discussion: """
            segue access                     prints the rights that follow from config/contract.json
            segue access --json | jq 'select(.publishes[] == "document.NavigationState") | .name'
            segue access --write             writes them to keys/access.json

            The rights of a service are those of the key with its name. 'devices' are the rights of all keys with the \
            role device, each in its own session. Without access.json, rights are not checked. Messages of the platform \
            itself, such as the presence of each process, are always allowed, and are not printed.

            The exit status is 66 if the contract cannot be read, and 78 if the folder has no keys.
            """)

    @Option(
        help: ArgumentHelp("A file that 'segue contract export' has written; '-' is standard input.", valueName: "file")
    )
    var contract = ContractFile.standard

    @Flag(help: "Write access.json in the folder of the keys, instead of printing the rights.")
    var write = false

    @OptionGroup var option: KeyFolderOption

    @OptionGroup var output: OutputOptions

    package init() {}

    package func validate() throws {
        guard !write || !output.json else { throw ValidationError("use either --write or --json") }
    }

    package func run() async throws {
        let access = try ContractFile.read(contract).access
        if write { return try await write(access) }
        let rows =
            access.services.sorted { $0.key < $1.key }.map { Row(name: $0.key, entry: $0.value) }
            + [Row(name: "devices", entry: access.devices)]
        if output.json {
            return try await Console.output.writeLines(rows.map { try JSONValue(encoding: $0).description })
        }
        var table = Table("NAME", "PUBLISHES", "READS", "CLAIMS", "SERVES", "ASKS")
        for line in rows.flatMap(\.lines) { table.append(row: line) }
        try await Console.output.writeLines(table.lines)
    }

    private func write(_ access: Access) async throws {
        let keys = try option.folder.known()
        try await Console.output.writeLine(try option.folder.write(access))
        let others = keys.list.filter { $0.role == .service && access.services[$0.name] == nil }.map(\.name)
        guard !others.isEmpty else { return }
        await Console.error.tell(
            "the contract does not name \(others.joined(separator: ", ")), which may do nothing; add it to the contract, "
                + "or give its key another role")
    }

    private struct Row: Encodable {
        let name: String
        let publishes: [String]
        let reads: [String]
        let claims: [String]
        let serves: [String]
        let asks: [String]

        init(name: String, entry: AccessEntry) {
            self.name = name
            (publishes, reads, claims) = (entry.publishes.sorted, entry.reads.sorted, entry.claims.sorted())
            (serves, asks) = (entry.serves.sorted, entry.asks.sorted)
        }

        /// The cells, one below the other. The name is on the first line.
        var lines: [[String]] {
            let columns = [publishes, reads, claims, serves, asks].map { $0.isEmpty ? ["-"] : $0 }
            let height = columns.map(\.count).max() ?? 0
            return (0..<height).map { line in
                [line == 0 ? name : ""] + columns.map { $0.indices.contains(line) ? $0[line] : "" }
            }
        }
    }
}

extension AppContract {
    /// What the services and devices of the app may do on a bus.
    var access: Access {
        Access(
            of: parties.map { name, party in
                DeclaredProgram(
                    name: name, receives: party.receives, sends: party.sends, consumers: party.consumers)
            })
    }
}
