"""Words: how texts and names are taken apart, which words say nothing, which mean the same. Pure.

The families are of everyday words and of those that programs use for the same thing. They are for what word
vectors do not know: that to undo is to reset, or that a bug is an issue.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from manyhands.english import EMPTY, stem

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
# Values in a request say of which sort of thing it speaks; their own words would mislead.
_EXTENSIONS = (
    "txt|md|rst|log|docx?|pdf|png|jpe?g|gif|svg|csv|json|ya?ml|toml|xml|html?|py|js|ts|css|sh|zip|gz|mp[34]|wav"
    "|ini|cfg|conf|xlsx?|pptx?|ipynb|sql|c|cpp|h|java|rs|go|rb|php"
)
_VALUES = (
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+"), " email address "),
    (re.compile(r"\b(?:https?://|www\.)\S+|\b[\w-]+\.(?:com|org|net|io|dev)\b"), " url website "),
    (re.compile(rf"[\w./~-]*\w\.(?:{_EXTENSIONS})\b"), " file "),
    (re.compile(r"\b\d{1,2}(?::\d\d)?\s?(?:[ap]m|o'clock)\b|\b\d{1,2}:\d\d\b", re.IGNORECASE), " time "),
)
FAMILIES = """
    abort cancel stop end terminate kill quit halt close
    accept approve allow grant confirm merge
    account user member person people profile customer
    add append insert put include attach
    address url link website web site uri
    address location place
    alarm reminder notify notification alert
    alter change modify update edit set patch fix correct adjust replace swap rewrite
    amount sum total count number add plus
    announce post publish send share tell broadcast
    answer reply respond comment
    appointment event meeting calendar
    ask prompt question elicitation
    ask query search find look lookup locate seek
    assign give delegate
    bill invoice payment charge
    blog article post page
    book reserve schedule
    branch fork
    bug issue ticket problem error defect
    build compile make
    button click press tap hit
    buy order purchase
    call invoke run execute start launch trigger perform begin
    capture screenshot snapshot screen
    change difference diff edit modification
    channel room chat conversation
    chart graph plot
    check status state verify validate test inspect
    choose select pick
    column field schema
    combine merge join
    commit save record
    compare diff difference differ
    compress zip gzip pack archive
    connect link relation relate associate
    convert transform translate change
    copy duplicate clone fork
    create make new add generate register build open
    data record row
    database db sql table
    delete remove erase drop destroy forget clear discard
    describe explain detail info information about
    detail info information metadata property attribute
    dir directory folder
    disable off deactivate
    discussion thread comment conversation
    doc document documentation page
    document file
    download fetch get retrieve grab
    email mail message inbox letter
    emoji reaction react
    enable on activate toggle turn
    enter type fill input
    entity object item
    environment env variable
    fact observation note
    form field input
    get fetch retrieve read load open view show obtain see
    go navigate open visit switch
    history log
    hour time clock timezone date now today
    image picture photo media
    install deploy setup
    know remember memory knowledge recall
    language model llm
    launch deploy release
    list enumerate show all
    log record
    login signin authenticate auth
    lookup resolve
    map directions route
    measure metric statistic
    memory graph knowledge
    move rename transfer relocate
    name title
    number count
    paste insert
    person contact people
    phone call dial
    pr pull
    print show display output
    propose request suggest
    publish release
    push upload
    read view see show open print
    recent last latest
    related relation connection link
    remind reminder
    repeat echo
    repo repository project
    research investigate study
    result output answer
    resume continue
    revert undo reset restore rollback unstage
    review inspect diff
    save store write put upload keep
    size big large length space
    spreadsheet sheet table
    subfolder subdirectory folder directory
    submit send
    subscribe follow watch
    summarise summarize summary
    task todo job
    team member group
    text content string
    tree structure hierarchy
    view look see show
    weather forecast temperature
    word text
    write compose draft send
    write create save
"""


def words_of(text: str) -> Iterator[str]:
    """Words of prose and of names: camelCase and snake_case are taken apart."""
    for part in _WORD.findall(_CAMEL.sub(" ", text)):
        yield part.lower()


def spoken(text: str) -> str:
    """A text or a name as plain words."""
    return " ".join(words_of(text))


def without_values(query: str) -> str:
    """A request with what its addresses, files and times of day are in place of them."""
    for value, sort in _VALUES:
        query = value.sub(sort, query)
    return query


def asked_words(query: str) -> list[str]:
    """The words of a request that say something, each once; all of them if none does."""
    words = list(dict.fromkeys(words_of(query)))
    return [word for word in words if word not in EMPTY] or words


def synonyms(stemmed: str) -> frozenset[str]:
    """The stems of the words that mean the same as this one, without itself."""
    return _families().get(stemmed, frozenset())


@lru_cache(maxsize=1)
def _families() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for family in FAMILIES.strip().splitlines():
        members = {stem(word) for word in family.split()}
        for member in members:
            found[member] |= members - {member}
    return {word: frozenset(others) for word, others in found.items()}
