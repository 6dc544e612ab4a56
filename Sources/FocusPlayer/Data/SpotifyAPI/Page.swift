/// One page of a list.
struct Page<Item: Decodable>: Decodable {
    let items: [Tolerant<Item>]
    /// The absolute URL of the next page; null on the last one.
    let next: String?
}
