/// The fewest of some sets that together have all their elements.
struct SmallestCover<Element: Hashable & Comparable> {
    /// The indices of the sets, sorted.
    private(set) var indices: [Int] = []
    /// False if the search was ended, so that fewer sets might do.
    private(set) var isProved = true

    private let sets: [Set<Element>]
    /// For each element, the indices of the sets that have it, the largest set first.
    private var owners: [Element: [Int]] = [:]
    private var effort = 0

    private static var effortLimit: Int { 20_000 }

    /// - Parameter sets: Of equally large sets, the first ones are preferred.
    init(of sets: [Set<Element>]) {
        self.sets = sets
        let largestFirst = sets.indices.sorted { (-sets[$0].count, $0) < (-sets[$1].count, $1) }
        for index in largestFirst {
            for element in sets[index] { owners[element, default: []].append(index) }
        }
        // An element that few sets have leaves few possibilities.
        let elements = owners.keys.sorted { (owners[$0, default: []].count, $0) < (owners[$1, default: []].count, $1) }
        indices = greedy(elements)
        search(elements[...], [])
        indices.sort()
    }

    private func greedy(_ elements: [Element]) -> [Int] {
        var open = Set(elements)
        var chosen: [Int] = []
        while let best = sets.indices.max(by: { (gain(of: $0, open), -$0) < (gain(of: $1, open), -$1) }),
            gain(of: best, open) > 0
        {
            chosen.append(best)
            open.subtract(sets[best])
        }
        return chosen
    }

    private func gain(of index: Int, _ open: Set<Element>) -> Int { sets[index].intersection(open).count }

    /// Tries each set that has the first element, and so on.
    private mutating func search(_ open: ArraySlice<Element>, _ chosen: [Int]) {
        guard let element = open.first else {
            indices = chosen
            return
        }
        effort += 1
        guard effort <= Self.effortLimit else {
            isProved = false
            return
        }
        let elements = Set(open)
        let greatest = sets.map { $0.intersection(elements).count }.max() ?? 1
        let least = (open.count + greatest - 1) / greatest
        for index in owners[element] ?? [] where chosen.count + least < indices.count {
            search(open.filter { !sets[index].contains($0) }[...], chosen + [index])
        }
    }
}
