internal import AppContract
internal import ArgumentParser
internal import BusAccess
internal import BusKeys
internal import EventBus
internal import Foundation
internal import NATSPermissions
internal import Support

struct ExportNATSPermissionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nats-permissions", abstract: "Print the rights of each service on a bus on NATS.",
        discussion: """
            segue export nats-permissions > permissions.conf
            segue export nats-permissions --keys config/keys --namespace SHOP
            segue export nats-permissions --nkey music-service=UDXU4RC… --namespace SHOP

            The result is a part of a configuration of nats-server: 'include permissions.conf'. It has a user for the \
            steward and for each key that 'segue keys' has made, with the rights of its role. Comments name the keys \
            without a user. Write it again, and reload the server, when keys or the contract change, or a key ends.

            Without a folder of keys, the users are the services of the contract, the steward (the service 'broker') \
            and people's tools ('tools'). A user without --nkey has the public key in a variable of nats-server's \
            environment, such as $MUSIC_SERVICE_NKEY.

            The exit status is 66 if the contract cannot be read.
            """)

    @Argument(help: "The contract: a file that 'segue contract export' has written. (default: config/contract.json)")
    var contract: String?

    @Option(help: "The namespace in the address of the bus, as in nats://host/SEGUE.")
    var namespace = "SEGUE"

    @Option(help: ArgumentHelp("The folder of the keys. (default: keys, if it exists)", valueName: "folder"))
    var keys: String?

    @Option(
        help: ArgumentHelp("The public nkey of a user; may be repeated.", valueName: "user=key"))
    var nkey: [UserKey] = []

    func run() async throws {
        let contract = try ContractFile.read(contract ?? ContractFile.standard)
        let permissions = try permissions(of: contract.access)
        if let stranger = nkey.first(where: { !permissions.names.contains($0.user) }) {
            let near = Spelling.suggestion(for: stranger.user, among: permissions.names)
            throw ValidationError(
                "--nkey: there is no user '\(stranger.user)'; "
                    + (near ?? "the users are \(permissions.names.joined(separator: ", "))"))
        }
        let keys = Dictionary(nkey.map { ($0.user, $0.key) }) { _, last in last }
        try await Console.output.write(permissions.configuration(keys: keys))
    }
}

extension ExportNATSPermissionsCommand {
    private func permissions(of access: Access) throws -> NATSPermissions {
        do {
            if let folder { return try NATSPermissions(of: access, keys: folder, namespace: namespace) }
            return try NATSPermissions(of: access, steward: KeyFile.brokerName, namespace: namespace)
        } catch {
            if error.code == .key { throw error }
            throw ValidationError(error.code == .address ? "--namespace: \(error.message)" : error.message)
        }
    }

    /// The folder of the keys. Nil if there is none.
    private var folder: KeyFolder? {
        if let keys { return KeyFolder(path: keys) }
        let standard = KeyFolder(path: KeyFolderOption.standard)
        return FileManager.default.fileExists(atPath: standard.list) ? standard : nil
    }
}

/// A user of a NATS server and its public nkey, such as `music-service=UDXU4RC…`.
struct UserKey: ExpressibleByArgument, Sendable {
    let user: String
    let key: String

    init?(argument: String) {
        guard let (before, after) = argument.cut(atLast: "=") else { return nil }
        (user, key) = (String(before), String(after))
        // The public key of a user: base 32, with U as its first letter. A seed (SU…) is refused: it is a secret.
        guard key.wholeMatch(of: #/U[A-Z2-7]{55}/#.byScalar) != nil, !user.isEmpty else { return nil }
    }
}
