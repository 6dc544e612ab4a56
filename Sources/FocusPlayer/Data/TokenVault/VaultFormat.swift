internal import Authorization
internal import EventBus
internal import Foundation
internal import Support

/// The maximum sizes of the vault's files. The numbers and the size of an entry keep each file below 4 MiB.
enum VaultLimit {
    /// The maximum number of accounts, that is of sessions with tokens.
    static let accounts = 500
    /// The maximum number of requests for consent that wait for an answer.
    static let requests = 500
    /// The maximum size in bytes of an account or a request, as JSON with the name of its session.
    static let entry = 8_000

    static func check(_ entry: some Encodable) throws {
        guard try JSONEncoder().encode(entry).count <= Self.entry else { throw VaultFailure.tooLarge }
    }
}

/// The version of the format of the files. Version 1 had no number: it had one account, and no limits.
private let currentVersion = 2

/// The error of a file whose format is newer than ``currentVersion``.
struct NewerVaultFormat: Error {
    let version: Int
}

private enum VersionKey: CodingKey {
    case version
}

extension Decoder {
    /// The version of the format. 1 if the file has no version.
    /// - Throws: ``NewerVaultFormat``.
    fileprivate func vaultVersion() throws -> Int {
        guard let container = try? container(keyedBy: VersionKey.self) else { return 1 }
        let version = try container.decodeIfPresent(Int.self, forKey: .version) ?? 1
        guard version <= currentVersion else { throw NewerVaultFormat(version: version) }
        return version
    }
}

/// The content of the file `tokens`: the tokens of each session.
struct AccountsFile: Codable, Sendable {
    private enum CodingKeys: CodingKey {
        case version, accounts, lastRemoved
    }

    /// By session. An entry without tokens is of an account that was disconnected; it has the last generation.
    private var accounts: [String: StoredTokens]
    /// The highest generation of an entry that was removed. A session without an entry continues from here, so that
    /// the generations of a session never repeat.
    private var lastRemoved: Int

    init() {
        accounts = [:]
        lastRemoved = 0
    }

    init(from decoder: any Decoder) throws {
        guard try decoder.vaultVersion() > 1 else {
            accounts = [Session.default: try StoredTokens(from: decoder)]
            lastRemoved = 0
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        accounts = try container.decode([String: StoredTokens].self, forKey: .accounts)
        lastRemoved = try container.decode(BoundedCount<Int>.self, forKey: .lastRemoved).wrappedValue
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(currentVersion, forKey: .version)
        try container.encode(accounts, forKey: .accounts)
        try container.encode(lastRemoved, forKey: .lastRemoved)
    }

    subscript(session: String) -> StoredTokens {
        accounts[session] ?? StoredTokens(generation: lastRemoved, tokens: nil)
    }

    /// True if the tokens of this session can be stored.
    func hasRoom(for session: String) -> Bool {
        accounts[session]?.tokens != nil || accounts.values.count { $0.tokens != nil } < VaultLimit.accounts
    }

    /// Stores the tokens of a session. If there are too many entries, one without tokens is removed.
    /// - Throws: `TokenStoreError` if the vault is full, or the tokens are too large.
    mutating func store(_ stored: StoredTokens, of session: String) throws {
        if stored.tokens != nil {
            guard hasRoom(for: session) else { throw VaultFailure.fullOfAccounts }
        }
        try VaultLimit.check([session: stored])
        accounts[session] = stored
        while accounts.count > VaultLimit.accounts, let old = accounts.first(where: { $0.value.tokens == nil }) {
            accounts[old.key] = nil
            lastRemoved = max(lastRemoved, old.value.generation)
        }
    }
}

/// The content of the file `pending`: the requests for consent that are not finished yet, oldest first.
struct PendingFile: Codable, Sendable {
    private enum CodingKeys: CodingKey {
        case version, requests
    }

    let requests: [PendingAuthorization]

    /// - Parameter former: the requests that are stored now. They may be removed even if there are too many.
    /// - Throws: `TokenStoreError` if there are more requests than before and too many, or a new one is too large.
    init(_ requests: [PendingAuthorization], replacing former: [PendingAuthorization]) throws {
        guard requests.count <= max(VaultLimit.requests, former.count) else { throw VaultFailure.fullOfRequests }
        for request in Set(requests).subtracting(former) { try VaultLimit.check(request) }
        self.requests = requests
    }

    init(from decoder: any Decoder) throws {
        guard try decoder.vaultVersion() > 1 else {
            requests = try [PendingAuthorization](from: decoder)
            return
        }
        requests = try decoder.container(keyedBy: CodingKeys.self).decode(
            [PendingAuthorization].self, forKey: .requests)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(currentVersion, forKey: .version)
        try container.encode(requests, forKey: .requests)
    }
}

/// The content of the file `renewals`: the renewals that are not finished yet, at most one of each session. Only
/// sessions with tokens have one, so ``VaultLimit/accounts`` limits their number.
struct RenewalsFile: Codable, Sendable {
    private enum CodingKeys: CodingKey {
        case version, renewals
    }

    let renewals: [PendingRenewal]

    /// - Parameter former: the renewals that are stored now.
    /// - Throws: `TokenStoreError` if a new renewal is too large.
    init(_ renewals: [PendingRenewal], replacing former: [PendingRenewal]) throws {
        for renewal in Set(renewals).subtracting(former) { try VaultLimit.check(renewal) }
        self.renewals = renewals
    }

    init(from decoder: any Decoder) throws {
        _ = try decoder.vaultVersion()
        renewals = try decoder.container(keyedBy: CodingKeys.self).decode([PendingRenewal].self, forKey: .renewals)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(currentVersion, forKey: .version)
        try container.encode(renewals, forKey: .renewals)
    }
}
