/// A page of a longer list, with absolute links to its neighbours.
struct Page<Item: Encodable & Sendable>: Encodable, Sendable {
    let href: String
    let items: [Item]
    let limit: Int
    let next: String?
    let offset: Int
    let previous: String?
    let total: Int

    /// - Parameters:
    ///   - all: The whole list.
    ///   - range: Which part is asked for.
    ///   - url: The list's address, without a query.
    ///   - item: What to show for an element.
    init<Element>(of all: [Element], range: PageRange, url: String, item: (Element) -> Item) {
        func link(_ offset: Int) -> String { "\(url)?offset=\(offset)&limit=\(range.limit)" }
        let end = range.offset + range.limit
        href = link(range.offset)
        items = all.dropFirst(range.offset).prefix(range.limit).map(item)
        limit = range.limit
        next = end < all.count ? link(end) : nil
        offset = range.offset
        previous = range.offset > 0 ? link(max(0, range.offset - range.limit)) : nil
        total = all.count
    }

    private enum CodingKeys: String, CodingKey {
        case href, items, limit, next, offset, previous, total
    }

    /// `next` and `previous` are there even when they are null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(href, forKey: .href)
        try container.encode(items, forKey: .items)
        try container.encode(limit, forKey: .limit)
        try container.encode(next, forKey: .next)
        try container.encode(offset, forKey: .offset)
        try container.encode(previous, forKey: .previous)
        try container.encode(total, forKey: .total)
    }
}
