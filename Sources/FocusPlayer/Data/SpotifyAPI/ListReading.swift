internal import Music

/// Reads a list page by page: says which request comes next, and when the list is complete. It sends nothing.
///
/// Spotify's pages begin at offsets. An item that is added or removed meanwhile would shift the items of later pages.
/// Therefore a pass over a list of several pages counts if the list's version is the same before and after it, or if
/// the pass before it had the same items. Versions and totals are advice: a list can have none, or a new one in each
/// answer. So the last of ``maximumPasses`` counts in any case.
struct ListReading<Item: Sendable>: Sendable {
    enum Request: Equatable {
        case page(offset: Int)
        case version
    }

    /// The content of one page.
    struct Page {
        /// The items, without the entries that are left out.
        let items: [Item]
        /// The number of entries, including those that are left out.
        let entryCount: Int
        /// True if Spotify names a page after this one.
        let hasNext: Bool
        /// The maximum number of entries of a page, if Spotify names it.
        let limit: Int?
        /// The number of entries of the whole list, if Spotify names it.
        let total: Int?
    }

    /// One reading from the first page to the last one.
    private struct Pass {
        /// The version of the list before the pass. Nil if it is not known.
        var version: String?
        var items: [Item] = []
        var entryCount = 0
        /// The offset of the next page.
        var offset = 0
        var total: Int?
    }

    private enum Stage {
        case page
        /// The version must be older than the first page of the pass.
        case versionBefore
        case versionAfter
        case complete
    }

    /// The number of items in a page. Spotify allows at most 50.
    static var pageSize: Int { 50 }
    /// The maximum number of entries. A longer list is an error.
    static var maximumEntries: Int { 10_000 }
    /// The maximum number of times that the list is read.
    static var maximumPasses: Int { 4 }

    private let object: MusicError.Object
    private let identity: @Sendable (Item) -> String
    private let isUnique: Bool
    /// False if the list has no version, or it could not be read.
    private var hasVersion: Bool
    private var stage = Stage.page
    private var pass = Pass()
    private var passCount = 1
    /// The identities of the items in the last complete pass.
    private var former: [String]?

    /// - Parameters:
    ///   - object: the list, for an error.
    ///   - hasVersion: true if the version of the list can be requested.
    ///   - isUnique: true if the list contains no item twice.
    init(
        _ object: MusicError.Object, hasVersion: Bool, isUnique: Bool, identity: @escaping @Sendable (Item) -> String
    ) {
        self.object = object
        self.hasVersion = hasVersion
        self.isUnique = isUnique
        self.identity = identity
    }

    /// The next request. Nil if the list is complete.
    var next: Request? {
        switch stage {
        case .page: .page(offset: pass.offset)
        case .versionBefore, .versionAfter: .version
        case .complete: nil
        }
    }

    /// The items of the present pass. If the list is complete, these are all its items.
    var items: [Item] {
        guard isUnique else { return pass.items }
        var known: Set<String> = []
        return pass.items.filter { known.insert(identity($0)).inserted }
    }

    /// False if nothing is known of the list.
    var isBegun: Bool { pass.offset > 0 || pass.version != nil || passCount > 1 }

    /// Continues after an interruption. The list may have changed meanwhile, so all passes are allowed again.
    mutating func resume() {
        passCount = 1
    }

    /// Handles the answer to ``Request/page(offset:)``.
    /// - Throws: ``MusicError/tooLong(_:limit:)``.
    mutating func receive(_ page: Page) throws(MusicError) {
        let isFirst = pass.offset == 0
        if !isLastPass, let total = pass.total, let new = page.total, total != new {
            // The list has changed since the first page.
            return begin(version: nil)
        }
        pass.total = pass.total ?? page.total
        pass.items += page.items
        pass.entryCount += page.entryCount
        // Entries that Spotify leaves out count in the offset. A page has at least the entries that it contains.
        pass.offset += max(min(page.limit ?? Self.pageSize, Self.pageSize), page.entryCount, 1)
        // A page without entries is the last one, unless entries are known to follow.
        let continues = page.hasNext && (page.entryCount > 0 || page.total ?? 0 > pass.offset)
        let isTooLong = pass.offset >= Self.maximumEntries || page.total ?? 0 > Self.maximumEntries
        guard pass.entryCount <= Self.maximumEntries, !(continues && isTooLong) else {
            throw .tooLong(object, limit: Self.maximumEntries)
        }
        if !continues {
            end(isOnlyPage: isFirst)
        } else if isFirst, pass.version == nil {
            stage = stageBeforePass
        }
    }

    /// Handles the answer to ``Request/version``.
    /// - Parameter version: nil if Spotify does not tell it.
    mutating func receive(version: String?) {
        if version == nil { hasVersion = false }
        if stage == .versionAfter {
            if version == pass.version { stage = .complete } else { begin(version: version) }
        } else {
            // A page that is older than the version is read again.
            if let version { pass = Pass(version: version) }
            stage = .page
        }
    }

    private var isLastPass: Bool { passCount >= Self.maximumPasses }

    private var stageBeforePass: Stage { hasVersion && !isLastPass ? .versionBefore : .page }

    private mutating func begin(version: String?) {
        passCount += 1
        pass = Pass(version: version)
        stage = version == nil ? stageBeforePass : .page
    }

    private mutating func end(isOnlyPage: Bool) {
        let identities = pass.items.map(identity)
        if isOnlyPage || isLastPass || identities == former {
            // Only a list of several pages can change between two of them.
            stage = .complete
            return
        }
        former = identities
        if pass.version == nil { begin(version: nil) } else { stage = .versionAfter }
    }
}
