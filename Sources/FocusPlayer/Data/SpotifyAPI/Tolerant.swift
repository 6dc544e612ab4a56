/// An item of a list that Spotify may have left null, or given a shape of its own: it must not cost the other items.
struct Tolerant<Item: Decodable>: Decodable {
    let value: Item?

    init(from decoder: any Decoder) {
        value = try? Item(from: decoder)
    }
}
