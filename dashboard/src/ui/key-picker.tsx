// A filter by key, which searches on the server.
import { CloseButton, Combobox, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useKey, useKeySearch } from '../api/keys.ts'
import { count } from '../format.ts'
import css from './key-picker.module.css'

interface KeyPickerProps {
  /** The id of the key; '' for any. */
  value: string
  onChange: (id: string) => void
}

/** Wide enough for a prefix and a number of requests on one line. */
const DROPDOWN = {
  withinPortal: false,
  width: 280,
  position: 'bottom-start',
  transitionProps: { duration: 0 },
} as const

/** Chooses a key by searching its name or id. */
export function KeyPicker({ value, onChange }: KeyPickerProps) {
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  /** The typed text; null while the selected key is shown. */
  const [typed, setTyped] = useState<string | null>(null)
  const [search] = useDebouncedValue(typed ?? '', 200)
  const chosen = useKey(value, value !== '')
  const found = useKeySearch(search.trim(), combobox.dropdownOpened)
  // Enter right after typing applies to the typed text, not to older results.
  const sought = (typed ?? '').trim().toLowerCase()
  const fitting = (found.data ?? []).filter(({ id, name, prefix }) =>
    [id, name, prefix].some((text) => text.toLowerCase().includes(sought)),
  )
  const name = value === '' ? '' : (chosen.data?.name ?? value)
  const end = (): void => {
    setTyped(null)
    combobox.closeDropdown()
  }
  return (
    <Combobox
      store={combobox}
      {...DROPDOWN}
      onOptionSubmit={(id) => {
        onChange(id)
        end()
      }}
    >
      <Combobox.Target>
        <TextInput
          aria-label="Key"
          placeholder="Any key"
          value={typed ?? name}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            combobox.openDropdown()
            combobox.resetSelectedOption()
          }}
          onClick={() => combobox.openDropdown()}
          onBlur={end}
          rightSection={
            value !== '' && (
              <CloseButton size="sm" aria-label="Any key" onClick={() => onChange('')} />
            )
          }
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options aria-label="Keys" className={css.options}>
          {fitting.map(({ id, name, prefix, usage }) => (
            <Combobox.Option key={id} value={id} active={id === value}>
              <span className={css.name}>{name}</span>
              <span className={css.sub}>
                {prefix}… · {count(usage.requests)} requests
              </span>
            </Combobox.Option>
          ))}
          {found.data !== undefined && fitting.length === 0 && (
            <Combobox.Empty>No matching keys</Combobox.Empty>
          )}
          {found.data?.length === 8 && (
            <Combobox.Footer className={css.sub}>Type to find more</Combobox.Footer>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
