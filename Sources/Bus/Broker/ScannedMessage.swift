/// A message of a batch, where it lies in the batch's frame. Everything a broker relies on has been checked.
struct ScannedMessage {
    enum TopicReference {
        /// Index in the journal's table.
        case known(Int)
        /// Index among the batch's new topics.
        case new(Int)

        /// The index in the table, once the new topics are in it.
        func index(amongNew new: [Int]) -> Int {
            switch self {
            case .known(let index): index
            case .new(let index): new[index]
            }
        }
    }

    let topic: TopicReference
    let subject: Range<Int>
    let key: Range<Int>
    let header: Range<Int>
    let data: Range<Int>
}
